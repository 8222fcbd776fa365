"""As OneFlow tests recurrent layers."""

import unittest

import oneflow as flow
import oneflow.unittest
from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestRNN(flow.unittest.TestCase):
    @autotest(n=2, check_graph=True, rtol=1e-2)
    def test_lstm(test_case):
        device = random_device()
        batch_size = random(1, 6).to(int)
        time_steps = random(1, 6).to(int)
        input_size = random(2, 6).to(int)
        hidden_size = random(2, 6).to(int)
        m = torch.nn.LSTM(
            input_size=input_size,
            hidden_size=hidden_size,
            num_layers=random(1, 3).to(int),
            bias=random().to(bool),
            dropout=0,
            batch_first=random().to(bool) | nothing(),
            bidirectional=random().to(bool) | nothing(),
        ).to(device)
        x = random_tensor(ndim=3, dim0=batch_size, dim1=time_steps, dim2=input_size).to(device)
        y = m(x)
        return y[0]

    @autotest(n=2, check_graph="ValidatedFalse")
    def test_gru_cell(test_case):
        input_size = random(2, 6).to(int)
        hidden_size = random(2, 6).to(int)
        m = torch.nn.GRUCell(input_size=input_size, hidden_size=hidden_size, bias=True)
        x = random_tensor(ndim=2, dim0=3, dim1=input_size)
        h = random_tensor(ndim=2, dim0=3, dim1=hidden_size)
        return m(x, h)


if __name__ == "__main__":
    unittest.main()
