"""As OneFlow tests normalisations."""

import unittest

import oneflow as flow
import oneflow.unittest
from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestBatchNorm(flow.unittest.TestCase):
    @autotest(n=3, auto_backward=True, rtol=1e-3, atol=1e-3, check_grad_use_random_data=False)
    def test_batchnorm2d_module_with_random_data(test_case):
        device = random_device()
        channel = random(1, 4).to(int)
        m = torch.nn.BatchNorm2d(
            num_features=channel,
            track_running_stats=random().to(bool) | nothing(),
            affine=random().to(bool) | nothing(),
        ).to(device)
        m.train(random())
        x = random_tensor(ndim=4, dim0=4, dim1=channel, requires_grad=True).to(device)
        y = m(x)
        return y

    @autotest(n=2, rtol=1e-3)
    def test_layernorm(test_case):
        shape = random(2, 5).to(int)
        m = torch.nn.LayerNorm(normalized_shape=(shape,), eps=random(1e-6, 1e-4).to(float) | nothing())
        x = random_tensor(ndim=2, dim0=3, dim1=shape)
        return m(x)


if __name__ == "__main__":
    unittest.main()
