"""As OneFlow tests convolutions, flags as generators."""

import unittest

import oneflow as flow
import oneflow.unittest
from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestConv2d(flow.unittest.TestCase):
    @autotest(n=3, rtol=1e-3)
    def test_conv2d_with_random_data(test_case):
        channels = random(1, 6)
        m = torch.nn.Conv2d(
            in_channels=channels,
            out_channels=random(1, 20),
            kernel_size=random(1, 4),
            stride=random() | nothing(),
            padding=random(1, 3).to(int) | nothing(),
            dilation=random(1, 5) | nothing(),
            groups=random(1, 5) | nothing(),
            padding_mode=constant("zeros") | nothing(),
        )
        m.train(random())
        device = random_device()
        m.to(device)
        x = random_tensor(ndim=4, dim1=channels, dim2=random(1, 8), dim3=random(1, 8)).to(device)
        y = m(x)
        return y

    @autotest(n=2, check_graph=False)
    def test_conv2d_group_with_random_data(test_case):
        channels = 720
        m = torch.nn.Conv2d(
            in_channels=channels,
            out_channels=random(1, 3) * 2,
            kernel_size=random(1, 3),
            stride=random() | nothing(),
            bias=random().to(bool),
            groups=oneof(1, 2),
        )
        m.train(random())
        x = random_tensor(ndim=4, dim0=random(1, 3), dim1=channels, dim2=random(3, 6), dim3=random(3, 6))
        return m(x)


if __name__ == "__main__":
    unittest.main()
