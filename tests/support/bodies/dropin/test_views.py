"""As OneFlow tests views."""

import unittest

import oneflow as flow
import oneflow.unittest
from oneflow.nn.common_types import _size_4_t
from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestViews(flow.unittest.TestCase):
    @autotest(n=3)
    def test_flow_unsqueeze_with_random_data(test_case):
        device = random_device()
        x = random_tensor().to(device)
        y = torch.unsqueeze(x, random(1, 3).to(int))
        return y

    @autotest(n=3, rtol=1e-5)
    def test_flatten_module(test_case):
        m = torch.nn.Flatten(start_dim=random(1, 6).to(int) | nothing(), end_dim=random(1, 6).to(int) | nothing())
        m.train(random())
        x = random_tensor(ndim=random(3, 6).to(int)).to(random_device())
        return m(x)

    @autotest(n=3)
    def test_slice_and_transpose(test_case):
        x = random_tensor(ndim=3, dim0=random(3, 6), dim1=random(3, 6), dim2=random(3, 6))
        y = x.transpose(0, 1)[1:, ::2]
        return y.reshape(y.shape[0], -1)

    @autotest(n=2)
    def test_constant_pad(test_case):
        m = torch.nn.ConstantPad2d(padding=random(1, 6).to(_size_4_t), value=random().to(float))
        x = random_tensor(ndim=4, dim2=4, dim3=4)
        return m(x)


if __name__ == "__main__":
    unittest.main()
