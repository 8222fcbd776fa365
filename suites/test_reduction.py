"""Ops that reduce one dimension, several, or all."""

from __future__ import annotations

from forms import forms

from autotest import autotest, random, random_bool, random_device, random_tensor, torch


@forms("torch.sum", "Tensor.sum", "torch.mean", "Tensor.mean", "torch.prod", "Tensor.prod")
@autotest(n=20, check_graph=True)
def test_all_elements(op):
    device = random_device()
    x = random_tensor(low=0.5, high=1.5).to(device)
    return op(x)


@forms("torch.max", "Tensor.max", "torch.min", "Tensor.min", "torch.amax", "Tensor.amax", "torch.amin", "torch.median")
@autotest(n=20, check_graph=True)
def test_extreme_of_all_elements(op):
    device = random_device()
    x = random_tensor().to(device)
    return op(x)


@forms(
    "torch.sum",
    "Tensor.sum",
    "torch.mean",
    "Tensor.mean",
    "torch.prod",
    "torch.amax",
    "torch.amin",
    "torch.logsumexp",
    "torch.norm",
)
@autotest(n=20, check_graph=True)
def test_one_dimension(op):
    device = random_device()
    x = random_tensor(ndim=3, low=0.5, high=1.5).to(device)
    return op(x, dim=random(-3, 3).to(int), keepdim=random_bool())


@forms("torch.sum", "Tensor.sum", "torch.mean", "torch.amax", "torch.logsumexp")
@autotest(n=20, check_graph=True)
def test_two_dimensions(op):
    device = random_device()
    x = random_tensor(ndim=4, dim0=random(1, 4), dim1=random(1, 4), dim2=random(1, 4), dim3=random(1, 4)).to(device)
    return op(x, dim=(random(0, 2).to(int), random(2, 4).to(int)), keepdim=random_bool())


@forms("torch.max", "Tensor.max", "torch.min", "Tensor.min", "torch.median")
@autotest(n=20, check_graph=True)
def test_values_and_indices(op):
    device = random_device()
    x = random_tensor(ndim=3).to(device)
    return op(x, dim=random(-3, 3).to(int), keepdim=random_bool())


@forms("torch.var", "Tensor.var", "torch.std", "Tensor.std")
@autotest(n=20, check_graph=True)
def test_spread(op):
    device = random_device()
    x = random_tensor(ndim=2, dim0=random(2, 8), dim1=random(2, 8)).to(device)
    return op(x, dim=random(-2, 2).to(int), unbiased=random_bool(), keepdim=random_bool())


@forms("torch.argmax", "Tensor.argmax", "torch.argmin", "Tensor.argmin")
@autotest(n=20, check_graph=True)
def test_index_of_extreme(op):
    device = random_device()
    x = random_tensor(ndim=3).to(device)
    return op(x, dim=random(-3, 3).to(int), keepdim=random_bool())


@forms("torch.cumsum", "Tensor.cumsum", "torch.cumprod", "Tensor.cumprod")
@autotest(n=20, check_graph=True)
def test_running(op):
    device = random_device()
    x = random_tensor(ndim=3, low=0.5, high=1.5).to(device)
    return op(x, dim=random(0, 3).to(int))


@autotest(n=20, check_graph=True)
def test_softmax_by_hand():
    device = random_device()
    x = random_tensor(ndim=2).to(device)
    e = torch.exp(x - torch.amax(x, dim=1, keepdim=True))
    return e / e.sum(dim=1, keepdim=True)
