"""As OneFlow tests masked_fill and where."""

import unittest

import oneflow as flow
import oneflow.unittest
from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestMasks(flow.unittest.TestCase):
    @autotest(n=3, auto_backward=False, check_graph=True)
    def test_flow_masked_fill_random_data(test_case):
        device = random_device()
        k1 = random(2, 6)
        k2 = random(2, 6)
        input = random_tensor(ndim=2, dim0=k1, dim1=k2).to(device)
        mask = random_tensor(ndim=2, dim0=k1, dim1=k2).to(device)
        value = random().to(float)
        return input.masked_fill(mask > 0.5, value)

    @autotest(n=3)
    def test_where_x_y(test_case):
        cond = random_tensor(ndim=2, dim0=2, dim1=3, low=-1)
        x = random_tensor(ndim=2, dim0=2, dim1=3)
        y = random_tensor(ndim=2, dim0=2, dim1=3)
        return torch.where(cond > 0, x, y)

    @autotest(n=2, auto_backward="auto")
    def test_eq_needs_no_gradient(test_case):
        x = random_tensor(ndim=2, dim0=2, dim1=3, dtype=int, low=0, high=3)
        return x == 1


if __name__ == "__main__":
    unittest.main()
