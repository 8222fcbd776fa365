"""Joining tensors from lists and tuples, and splitting them into tuples."""

from __future__ import annotations

import pytest
from forms import forms

from autotest import autotest, random, random_device, random_tensor

_CONTAINERS = pytest.mark.parametrize("container", [list, tuple], ids=["list", "tuple"])


@_CONTAINERS
@forms("torch.cat", "torch.concat")
@autotest(n=20, check_graph=True)
def test_cat(op, container):
    device = random_device()
    rows = random(1, 6)
    parts = container(random_tensor(ndim=2, dim0=rows).to(device) for _ in range(3))
    return op(parts, dim=1)


@_CONTAINERS
@forms("torch.stack", "torch.hstack", "torch.vstack", "torch.dstack", "torch.column_stack")
@autotest(n=20, check_graph=True)
def test_same_shape(op, container):
    device = random_device()
    rows, columns = random(1, 6), random(1, 6)
    parts = container(random_tensor(ndim=2, dim0=rows, dim1=columns).to(device) for _ in range(2))
    return op(parts)


@_CONTAINERS
@forms("torch.stack")
@autotest(n=20, check_graph=True)
def test_stack_dim(op, container):
    device = random_device()
    rows, columns = random(1, 6), random(1, 6)
    parts = container(random_tensor(ndim=2, dim0=rows, dim1=columns).to(device) for _ in range(3))
    return op(parts, dim=random(-3, 3).to(int))


@forms("torch.split", "Tensor.split")
@autotest(n=20, check_graph=True)
def test_split_by_size(op):
    device = random_device()
    x = random_tensor(ndim=2, dim0=random(2, 8), dim1=random(2, 8)).to(device)
    return op(x, random(1, 4).to(int).value(), dim=random(0, 2).to(int))


@_CONTAINERS
@forms("torch.split", "Tensor.split")
@autotest(n=20, check_graph=True)
def test_split_by_sizes(op, container):
    device = random_device()
    x = random_tensor(ndim=2, dim0=6).to(device)
    return op(x, container((1, 2, 3)), dim=0)


@forms("torch.chunk", "Tensor.chunk")
@autotest(n=20, check_graph=True)
def test_chunk(op):
    device = random_device()
    x = random_tensor(ndim=3, dim1=6).to(device)
    return op(x, random(1, 4).to(int).value(), dim=1)


@forms("torch.unbind", "Tensor.unbind")
@autotest(n=20, check_graph=True)
def test_unbind(op):
    device = random_device()
    x = random_tensor(ndim=2, dim0=random(2, 5), dim1=random(2, 5)).to(device)
    return op(x, dim=random(0, 2).to(int))


@forms("torch.tensor_split")
@autotest(n=20, check_graph=True)
def test_tensor_split(op):
    device = random_device()
    x = random_tensor(ndim=2, dim0=6).to(device)
    return op(x, (1, random(2, 5).to(int)), dim=0)


@forms("torch.meshgrid")
@autotest(n=20, check_graph=True)
def test_meshgrid(op):
    device = random_device()
    x = random_tensor(ndim=1).to(device)
    y = random_tensor(ndim=1).to(device)
    return op(x, y, indexing="ij")


@autotest(n=20, check_graph=True)
def test_split_and_use_some():
    device = random_device()
    x = random_tensor(ndim=2, dim0=6).to(device)
    first, _, last = x.chunk(3)
    return {"product": first * last, "pair": [first, last]}
