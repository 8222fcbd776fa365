"""Test bodies for OneFlow's own harness and for ours, unmodified; CASES says how many cases each runs."""

import os
import unittest

import oneflow as flow
import oneflow.unittest
from oneflow.test_utils.automated_test_util import *

CASES = int(os.environ.get("CASES", "20"))


class TestBench(flow.unittest.TestCase):
    @autotest(n=CASES, check_graph=False)
    def test_eager(test_case):
        x = random_tensor(ndim=2, dim0=8, dim1=8)
        y = random_tensor(ndim=2, dim0=8, dim1=8)
        return torch.relu(torch.matmul(x, y)) + x

    @autotest(n=CASES, check_graph=True)
    def test_one_op(test_case):
        x = random_tensor(ndim=2, dim0=8, dim1=8)
        y = random_tensor(ndim=2, dim0=8, dim1=8)
        return torch.matmul(x, y)

    @autotest(n=CASES, check_graph=True)
    def test_chain(test_case):
        x = random_tensor(ndim=2, dim0=8, dim1=8)
        y = random_tensor(ndim=2, dim0=8, dim1=8)
        return torch.tanh(torch.relu(torch.matmul(x, y) + x) * y)

    @autotest(n=CASES, check_graph=True)
    def test_lstm(test_case):
        m = torch.nn.LSTM(4, 4, num_layers=1, batch_first=True)
        m.train(False)
        return m(random_tensor(ndim=3, dim0=2, dim1=3, dim2=4))[0]


if __name__ == "__main__":
    unittest.main()
