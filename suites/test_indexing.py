"""Reading and writing through indices, masks and index tensors."""

from __future__ import annotations

import pytest
from forms import forms

from autotest import autotest, random, random_bool, random_device, random_tensor, torch

_INDICES = {
    "x[1]": 1,
    "x[-1]": -1,
    "x[1:3]": slice(1, 3),
    "x[::2]": slice(None, None, 2),
    "x[...,0]": (Ellipsis, 0),
    "x[:,1]": (slice(None), 1),
    "x[1,:,1:]": (1, slice(None), slice(1, None)),
    "x[:,None]": (slice(None), None),
    "x[[0,2]]": [0, 2],
}


@pytest.mark.parametrize("index", [pytest.param(index, id=spelled) for spelled, index in _INDICES.items()])
@autotest(n=20, check_graph=True)
def test_getitem(index):
    device = random_device()
    x = random_tensor(ndim=3, dim0=random(3, 6), dim1=random(3, 6), dim2=random(3, 6)).to(device)
    return x[index]


@autotest(n=20, check_graph=True)
def test_getitem_drawn_index():
    device = random_device()
    x = random_tensor(ndim=2, dim0=random(4, 8), dim1=random(4, 8)).to(device)
    return x[random(0, 4), random(0, 2).to(int).value() :]


@autotest(n=20, check_graph=True)
def test_getitem_index_tensor():
    device = random_device()
    x = random_tensor(ndim=2, dim0=4).to(device)
    index = random_tensor(ndim=1, low=0, high=4, dtype=int).to(device)
    return x[index]


@forms("torch.index_select", "Tensor.index_select")
@autotest(n=20, check_graph=True)
def test_index_select(op):
    device = random_device()
    x = random_tensor(ndim=3, dim1=5).to(device)
    index = random_tensor(ndim=1, low=0, high=5, dtype=int).to(device)
    return op(x, 1, index)


@forms("torch.gather", "Tensor.gather")
@autotest(n=20, check_graph=True)
def test_gather(op):
    device = random_device()
    rows = random(1, 5)
    x = random_tensor(ndim=2, dim0=rows, dim1=6).to(device)
    index = random_tensor(ndim=2, dim0=rows, low=0, high=6, dtype=int).to(device)
    return op(x, 1, index)


@forms("torch.scatter", "torch.scatter_add", "Tensor.scatter_add")
@autotest(n=20, check_graph=True)
def test_scatter(op):
    device = random_device()
    rows = random(1, 5)
    x = random_tensor(ndim=2, dim0=rows, dim1=6).to(device)
    # Each index of a row once, for `scatter` leaves open which of two writers wins.
    index = (random_tensor(ndim=2, dim0=rows, dim1=1, low=0, high=6, dtype=int).to(device) + torch.arange(4)) % 6
    source = random_tensor(ndim=2, dim0=rows, dim1=4).to(device)
    return op(x, 1, index, source)


@forms("torch.masked_fill", "Tensor.masked_fill")
@autotest(n=20, check_graph=True)
def test_masked_fill(op):
    device = random_device()
    rows, columns = random(1, 6), random(1, 6)
    x = random_tensor(ndim=2, dim0=rows, dim1=columns).to(device)
    mask = random_tensor(ndim=2, dim0=rows, dim1=columns, dtype=bool).to(device)
    return op(x, mask, random(-3, 3).to(float).value())


@forms("torch.masked_select", "Tensor.masked_select")
@autotest(n=20, check_graph=False)
def test_masked_select(op):
    device = random_device()
    rows, columns = random(1, 6), random(1, 6)
    x = random_tensor(ndim=2, dim0=rows, dim1=columns).to(device)
    mask = random_tensor(ndim=2, dim0=rows, dim1=columns, dtype=bool).to(device)
    return op(x, mask)


@forms("torch.where")
@autotest(n=20, check_graph=True)
def test_where(op):
    device = random_device()
    rows, columns = random(1, 6), random(1, 6)
    x = random_tensor(ndim=2, dim0=rows, dim1=columns).to(device)
    y = random_tensor(ndim=2, dim0=rows, dim1=columns).to(device)
    return op(x > y, x, y * 2)


@forms("torch.sort", "Tensor.sort")
@autotest(n=20, check_graph=True)
def test_sort(op):
    device = random_device()
    x = random_tensor(ndim=3).to(device)
    values, indices = op(x, dim=random(-3, 3).to(int), descending=random_bool())
    return values, indices.to(torch.int64)  # OneFlow's indices are int32


@forms("torch.argsort", "Tensor.argsort")
@autotest(n=20, check_graph=True)
def test_argsort(op):
    device = random_device()
    x = random_tensor(ndim=2).to(device)
    return op(x, dim=random(-2, 2).to(int), descending=random_bool()).to(torch.int64)  # OneFlow's are int32


@forms("torch.topk", "Tensor.topk")
@autotest(n=20, check_graph=True)
def test_topk(op):
    device = random_device()
    x = random_tensor(ndim=2, dim1=random(4, 8)).to(device)
    return op(x, random(1, 5).to(int).value(), dim=1)


@forms("torch.nonzero", "Tensor.nonzero")
@autotest(n=20, auto_backward=False, check_graph=False)
def test_nonzero(op):
    device = random_device()
    x = random_tensor(ndim=2, low=-2, high=3, dtype=int).to(device)
    return op(x)


@autotest(n=20, check_graph=True)
def test_embedding():
    device = random_device()
    m = torch.nn.Embedding(random(5, 9), random(1, 6)).to(device)
    index = random_tensor(ndim=2, low=0, high=5, dtype=int).to(device)
    return m(index)
