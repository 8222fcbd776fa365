"""Ops with bool results: comparisons, logic, predicates."""

from __future__ import annotations

from forms import forms

from autotest import autotest, oneof, random, random_bool, random_device, random_dtype, random_tensor, torch

_COMPARISONS = forms(
    "torch.eq",
    "Tensor.eq",
    "x==y",
    "torch.ne",
    "Tensor.ne",
    "x!=y",
    "torch.lt",
    "Tensor.lt",
    "x<y",
    "torch.le",
    "x<=y",
    "torch.gt",
    "x>y",
    "torch.ge",
    "x>=y",
)


@_COMPARISONS
@autotest(n=20, check_graph=True)
def test_small_integers(op):
    device = random_device()
    rows, columns = random(1, 6), random(1, 6)
    x = random_tensor(ndim=2, dim0=rows, dim1=columns, low=0, high=3, dtype=int).to(device)
    y = random_tensor(ndim=2, dim0=oneof(rows, 1), dim1=oneof(columns, 1), low=0, high=3, dtype=int).to(device)
    return op(x, y)


@forms("torch.lt", "x<y", "torch.ge", "x>=y", "torch.eq", "x!=y")
@autotest(n=20, check_graph=True)
def test_with_a_number(op):
    device = random_device()
    x = random_tensor().to(device)
    return op(x, random(-1, 1).to(float).value())


@forms("torch.logical_and", "Tensor.logical_and", "torch.logical_or", "torch.logical_xor", "x&y", "x|y", "x^y")
@autotest(n=20, check_graph=True)
def test_logic(op):
    device = random_device()
    rows, columns = random(1, 6), random(1, 6)
    x = random_tensor(ndim=2, dim0=rows, dim1=columns, dtype=bool).to(device)
    y = random_tensor(ndim=2, dim0=rows, dim1=columns, dtype=bool).to(device)
    return op(x, y)


@forms("torch.logical_not", "Tensor.logical_not", "~x")
@autotest(n=20, check_graph=True)
def test_not(op):
    device = random_device()
    x = random_tensor(dtype=bool).to(device)
    return op(x)


@forms("torch.any", "Tensor.any", "torch.all", "Tensor.all")
@autotest(n=20, check_graph=True)
def test_reduction(op):
    device = random_device()
    x = random_tensor(ndim=2, dtype=bool).to(device)
    return op(x, dim=random(-2, 2).to(int), keepdim=random_bool())


@forms("torch.isnan", "Tensor.isnan", "torch.isinf", "Tensor.isinf", "torch.isfinite")
@autotest(n=20, check_graph=True)
def test_predicate(op):
    device = random_device()
    x = random_tensor(ndim=2, low=-1, high=1).to(device)
    return op(torch.log(torch.relu(x)))


@forms("torch.isclose")
@autotest(n=20, check_graph=True)
def test_isclose(op):
    device = random_device()
    x = random_tensor(ndim=2).to(device)
    return op(x, x + 1e-3, rtol=1e-3, atol=1e-3)


@autotest(n=20, check_graph=True)
def test_comparison_of_dtypes():
    device = random_device()
    x = random_tensor(ndim=2, dim0=3, dim1=3, low=0, high=4, dtype=random_dtype("float32", "int64", "int32")).to(device)
    return x.to(torch.int32) > 1
