"""Integer arithmetic, casts between dtypes, and constructors."""

from __future__ import annotations

import pytest
from forms import forms, member

from autotest import autotest, random, random_device, random_dtype, random_tensor, torch

_INTEGERS = ("int32", "int64")


@forms("torch.add", "x+y", "torch.sub", "x-y", "torch.mul", "x*y", "torch.maximum", "torch.minimum")
@autotest(n=20, check_graph=True)
def test_arithmetic(op):
    device = random_device()
    rows, columns, dtype = random(1, 6), random(1, 6), random_dtype(*_INTEGERS)
    x = random_tensor(ndim=2, dim0=rows, dim1=columns, dtype=dtype).to(device)
    y = random_tensor(ndim=2, dim0=rows, dim1=columns, dtype=dtype).to(device)
    return op(x, y)


@forms("torch.floor_divide", "torch.fmod", "x//y", "x%y")
@autotest(n=20, check_graph=True)
def test_division_of_naturals(op):
    device = random_device()
    rows, columns, dtype = random(1, 6), random(1, 6), random_dtype(*_INTEGERS)
    x = random_tensor(ndim=2, dim0=rows, dim1=columns, low=0, high=20, dtype=dtype).to(device)
    y = random_tensor(ndim=2, dim0=rows, dim1=columns, low=1, high=6, dtype=dtype).to(device)
    return op(x, y)


@forms("x+y", "x-y", "x*y", "x//y")
@autotest(n=20, check_graph=True)
def test_with_a_number(op):
    device = random_device()
    x = random_tensor(low=0, high=20, dtype=random_dtype(*_INTEGERS)).to(device)
    return op(x, random(1, 6).to(int).value())


@forms("torch.sum", "Tensor.sum")
@autotest(n=20, check_graph=True)
def test_reduction(op):
    device = random_device()
    x = random_tensor(ndim=2, low=-3, high=4, dtype=random_dtype(*_INTEGERS)).to(device)
    return op(x, dim=random(-2, 2).to(int))


@forms("torch.abs", "Tensor.abs")
@autotest(n=20, check_graph=True)
def test_unary(op):
    device = random_device()
    x = random_tensor(dtype=random_dtype(*_INTEGERS)).to(device)
    return op(x)


@pytest.mark.parametrize("dtype", ["torch.int32", "torch.int64", "torch.float64", "torch.bool", "torch.int8"])
@autotest(n=20, check_graph=True)
def test_to_dtype(dtype):
    device = random_device()
    x = random_tensor(low=-5, high=5).to(device)
    return x.to(member(dtype))


@forms("Tensor.int", "Tensor.long", "Tensor.float", "Tensor.double", "Tensor.bool")
@autotest(n=20, check_graph=True)
def test_cast_method(op):
    device = random_device()
    x = random_tensor(low=-5, high=5, dtype=random_dtype("int32", "int64", "float32")).to(device)
    return op(x)


@forms("torch.zeros_like", "torch.ones_like")
@autotest(n=20, check_graph=True)
def test_constant_like(op):
    device = random_device()
    x = random_tensor(dtype=random_dtype("int64", "float32")).to(device)
    return op(x) + x


@autotest(n=20, check_graph=True)
def test_arange_added():
    device = random_device()
    x = random_tensor(ndim=2, dim1=6, dtype=int).to(device)
    return x + torch.arange(0, 6, dtype=torch.int64, device=device)


@autotest(n=20, check_graph=True)
def test_one_hot():
    device = random_device()
    x = random_tensor(ndim=2, low=0, high=5, dtype=int).to(device)
    return torch.nn.functional.one_hot(x, num_classes=5)
