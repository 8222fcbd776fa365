"""As OneFlow's test files use its dual objects: whatever a call gives has both sides."""

import unittest

import numpy as np
import oneflow as flow
import oneflow.unittest
import torch as torch_original
from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestIdioms(flow.unittest.TestCase):
    @autotest(n=3, check_graph=True)
    def test_ndim_of_a_side(test_case):
        x = random_tensor()
        dim = random(0, x.ndim.pytorch).to(int)
        return torch.cumsum(x, dim)

    @autotest(n=2, check_graph=False)
    def test_shape_of_a_side(test_case):
        x = random_tensor(ndim=3, dim0=2, dim1=3)
        rows, *others = x.shape.pytorch
        test_case.assertIs(type(rows), int)
        test_case.assertEqual(list(x.shape.oneflow), [rows, *others])
        test_case.assertEqual(x.size().oneflow[0], x.shape[0].pytorch)
        return torch.reshape(x, torch.Size([rows * others[0], others[1]]))

    @autotest(n=2, check_graph=False)
    def test_plain_values_of_a_side(test_case):
        x = random_tensor(ndim=2, dim0=2, dim1=3)
        test_case.assertEqual(x.numel().pytorch, x.numel().oneflow)
        test_case.assertIs(x.requires_grad.oneflow, True)
        test_case.assertIs(x.is_contiguous().pytorch, True)
        test_case.assertIs(x.dtype.oneflow, flow.float32)
        test_case.assertIs(x.dtype.pytorch, torch_original.float32)
        test_case.assertEqual(x.device.oneflow, flow.device("cpu"))
        return torch.sum(x, dim=x.ndim - 1, keepdim=x.requires_grad).to(x.dtype).to(x.device)

    @autotest(n=2, auto_backward=False, check_graph=False)
    def test_length_of_a_group(test_case):
        y = torch.split(random_tensor(ndim=2, dim0=4, dim1=3), 2)
        parts = [y[i] for i in range(y.__len__().pytorch)]
        test_case.assertEqual(len(y.oneflow), len(parts))
        return torch.cat(y), parts[1]

    @autotest(n=2, check_allclose=False, check_graph=False)
    def test_fields_of_a_side(test_case):
        x = random_tensor(ndim=2, dim0=3, dim1=4)
        y = torch.min(x, dim=1, keepdim=random_bool().value())
        test_case.assertTrue(np.allclose(y.oneflow[0].numpy(), y.pytorch.values.detach().numpy()))
        test_case.assertTrue(np.array_equal(y.oneflow[1].numpy(), y.pytorch.indices.numpy()))
        y.oneflow[0].sum().backward()
        y.pytorch.values.sum().backward()
        test_case.assertTrue(np.allclose(x.grad.oneflow.numpy(), x.grad.pytorch.numpy()))

    @autotest(n=2, auto_backward=False, check_graph=False)
    def test_fields_of_both(test_case):
        result = random_tensor(ndim=2, dim0=3, dim1=4).min(1)
        return result.values, result.indices

    def test_higher_derivatives(test_case):
        x = random_tensor(ndim=2, dim0=2, dim1=3)
        shape = x.oneflow.shape
        dx = torch.autograd.grad(torch.sin(x), [x], random_tensor(len(shape), *shape), True, True)
        test_case.assertTrue(hasattr(dx, "pytorch"))
        test_case.assertTrue(np.allclose(dx.pytorch[0].detach().numpy(), dx.oneflow[0].numpy(), rtol=1e-4))
        ddx = torch.autograd.grad(dx, [x], [random_tensor(len(shape), *shape)])
        test_case.assertTrue(np.allclose(ddx.pytorch[0].numpy(), ddx[0].oneflow.numpy(), rtol=1e-4))

    @autotest(n=2, check_graph=False)
    def test_sides_of_torch(test_case):
        x = random_tensor(ndim=2, dim0=2, dim1=3)
        y = torch.oneflow.reshape(x.oneflow, (3, 2))
        test_case.assertTrue(np.allclose(y.numpy(), torch.pytorch.reshape(x.pytorch, (3, 2)).detach().numpy()))
        test_case.assertIs(torch.nn.functional.pytorch, torch_original.nn.functional)
        test_case.assertIs(torch.relu.oneflow, torch.oneflow.relu)
        return torch.broadcast_like(x, torch.oneflow.nn and torch.ones(4, 2, 3))

    @autotest(n=2, check_graph=False)
    def test_another_side(test_case):
        stop = random(3, 6).to(int).value()
        x = torch.arange(start=0, end=stop, step=1)
        x.oneflow = flow.arange(start=0, end=stop, step=1)
        y = random_tensor(ndim=1, dim0=stop) * 2
        y.oneflow = y.oneflow.detach().requires_grad_()
        y.pytorch = y.pytorch.detach().requires_grad_()
        return y * x

    @autotest(n=2, check_graph=False)
    def test_a_gradient_set_by_hand(test_case):
        x = random_tensor(ndim=1, dim0=3)
        given = random_tensor(ndim=1, dim0=3, requires_grad=False)
        x.pytorch.grad = given.pytorch
        x.oneflow.grad = given.oneflow
        return x * 2

    @autotest(n=6, check_graph=False)
    def test_a_generator_is_true(test_case):
        padding = oneof(0, random(1, 3)).to(int)
        stride = random(1, 3).to(int) | nothing()
        test_case.assertTrue(padding)
        test_case.assertTrue(stride and random_bool())
        x = random_tensor(ndim=2, dim0=2, dim1=3)
        return torch.nn.functional.pad(x, (padding, 0)) if padding else x


if __name__ == "__main__":
    unittest.main()
