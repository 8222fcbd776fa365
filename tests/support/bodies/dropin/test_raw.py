"""As OneFlow tests what needs the raw sides."""

import unittest

import numpy as np
import oneflow as flow
import oneflow.unittest
import torch as torch_original
from oneflow.test_utils.automated_test_util import *
from oneflow.test_utils.automated_test_util.torch_flow_dual_object import GetDualObject


class TorchScale(torch_original.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch_original.nn.Parameter(torch_original.ones(3) * 2)

    def forward(self, x):
        return x * self.weight


class FlowScale(flow.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = flow.nn.Parameter(flow.ones(3))

    def forward(self, x):
        return x * self.weight


@flow.unittest.skip_unless_1n1d()
class TestRaw(flow.unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shape = [random(2, 1000).to(int).value(), 3]
        cls.ones = torch.ones(*cls.shape)

    def test_what_the_class_has_set_up(test_case):
        test_case.assertEqual(list(test_case.ones.oneflow.shape), test_case.shape)
        test_case.assertEqual(test_case.shape[0], 259)  # drawn from the name of the class, whichever test comes first

    @autotest(n=2)
    def test_sides_by_hand(test_case):
        x = random_tensor(ndim=2, dim0=2, dim1=3)
        y = torch.exp(x)
        test_case.assertTrue(np.allclose(y.pytorch.detach().numpy(), y.oneflow.numpy(), rtol=1e-4))
        return y

    @autotest(n=2)
    def test_flow_call_beside(test_case):
        x = random_tensor(ndim=2, dim0=2, dim1=3)
        y = GetDualObject("y", torch_original.relu(x.pytorch), flow.relu(x.oneflow))
        return y * 2

    @autotest(n=2)
    def test_own_modules(test_case):
        m = GetDualObject("m", TorchScale(), FlowScale())
        return m(random_tensor(ndim=2, dim0=2, dim1=3))

    @autotest(n=2)
    def test_backward_in_the_body(test_case):
        x = random_tensor(ndim=2, dim0=2, dim1=3)
        y = torch.tanh(x)
        y.sum().backward()
        test_case.assertIsNotNone(x.pytorch.grad)
        test_case.assertIsNotNone(x.oneflow.grad)

    def test_outside_of_autotest(test_case):
        n = random(2, 5).to(int).value()
        x = random_tensor(ndim=2, dim0=n, dim1=3)
        y = torch.sigmoid(x)
        test_case.assertEqual(tuple(y.oneflow.shape), (n, 3))
        test_case.assertTrue(np.allclose(y.pytorch.detach().numpy(), y.oneflow.numpy(), rtol=1e-4))

    def test_plain_oneflow(test_case):
        a = np.random.rand(2, 3).astype(np.float32)
        test_case.assertTrue(np.allclose(flow.tensor(a).numpy(), a))


if __name__ == "__main__":
    unittest.main()
