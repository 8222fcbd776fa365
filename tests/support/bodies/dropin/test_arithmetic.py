"""As OneFlow tests arithmetic."""

import unittest

import oneflow as flow
import oneflow.unittest
from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestAdd(flow.unittest.TestCase):
    @autotest(n=3, check_graph=True)
    def test_add_with_alpha(test_case):
        device = random_device()
        x1 = random_tensor(2, 2, 3).to(device).mean()
        x2 = random_tensor(2, 2, 3).to(device).mean()
        x3 = random_tensor(2, 2, 3).to(device).mean()
        y = random().to(float)
        s = random().to(float)
        alpha = random().to(float)
        z1 = torch.add(x1, y, alpha=alpha)
        z2 = torch.add(x2, s, alpha=alpha)
        z3 = torch.add(x3, y, alpha=alpha)
        return z1, z2, z3

    @autotest(n=3, check_graph=True)
    def test_scalar_operators(test_case):
        x = random_tensor(ndim=2, low=1, high=2)
        return 2 - x * 3 / (x + 1.5) + random(1, 3).to(int)

    @autotest(n=3, check_graph=False)
    def test_inplace_add(test_case):
        x = random_tensor(ndim=2, dim0=2, dim1=3)
        y = x + 1
        y.add_(2)
        y += x
        return y

    @autotest(n=3, auto_backward=False)
    def test_argmax(test_case):
        x = random_tensor(ndim=3, dim0=2, dim1=3, dim2=4)
        return torch.argmax(x, dim=random(0, 3).to(int))

    @autotest(n=3, check_dtype=True)
    def test_int_and_dtype(test_case):
        x = random_tensor(ndim=2, dim0=2, dim1=3, dtype=float)
        return x.to(torch.float64) * 2

    @autotest(n=2)
    def test_einsum(test_case):
        dim = random(1, 6).to(int)
        x = random_tensor(ndim=2, dim0=2, dim1=dim)
        y = random_tensor(ndim=2, dim0=dim, dim1=3)
        return torch.einsum("ik,kj->ij", x, y)

    @autotest(n=2)
    def test_functions_of_oneof(test_case):
        f = oneof(torch.nn.functional.relu, torch.sigmoid, possibility=0.5)
        x = random_tensor(ndim=2)
        return f(x)


if __name__ == "__main__":
    unittest.main()
