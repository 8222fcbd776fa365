"""Products of vectors, matrices and batches of matrices."""

from __future__ import annotations

from forms import forms

from autotest import autotest, random, random_bool, random_device, random_tensor, torch


@forms("torch.matmul", "Tensor.matmul", "x@y", "torch.mm", "Tensor.mm")
@autotest(n=20, check_graph=True)
def test_matrices(op):
    device = random_device()
    k = random(1, 6)
    x = random_tensor(ndim=2, dim1=k).to(device)
    y = random_tensor(ndim=2, dim0=k).to(device)
    return op(x, y)


@forms("torch.matmul", "Tensor.matmul", "x@y", "torch.bmm", "Tensor.bmm")
@autotest(n=20, check_graph=True)
def test_batches(op):
    device = random_device()
    batch, k = random(1, 5), random(1, 6)
    x = random_tensor(ndim=3, dim0=batch, dim2=k).to(device)
    y = random_tensor(ndim=3, dim0=batch, dim1=k).to(device)
    return op(x, y)


@forms("torch.matmul", "x@y")
@autotest(n=20, check_graph=True)
def test_broadcast_batch(op):
    device = random_device()
    k = random(1, 6)
    x = random_tensor(ndim=4, dim0=random(1, 4), dim1=random(1, 4), dim3=k).to(device)
    y = random_tensor(ndim=2, dim0=k).to(device)
    return op(x, y)


@forms("torch.dot", "Tensor.dot")
@autotest(n=20, check_graph=True)
def test_vectors(op):
    device = random_device()
    k = random(1, 8)
    x = random_tensor(ndim=1, dim0=k).to(device)
    y = random_tensor(ndim=1, dim0=k).to(device)
    return op(x, y)


@forms("torch.mv", "Tensor.mv", "torch.matmul")
@autotest(n=20, check_graph=True)
def test_matrix_and_vector(op):
    device = random_device()
    k = random(1, 6)
    x = random_tensor(ndim=2, dim1=k).to(device)
    y = random_tensor(ndim=1, dim0=k).to(device)
    return op(x, y)


@forms("torch.addmm", "Tensor.addmm")
@autotest(n=20, check_graph=True)
def test_matrices_added(op):
    device = random_device()
    rows, k, columns = random(1, 6), random(1, 6), random(1, 6)
    bias = random_tensor(ndim=2, dim0=rows, dim1=columns).to(device)
    x = random_tensor(ndim=2, dim0=rows, dim1=k).to(device)
    y = random_tensor(ndim=2, dim0=k, dim1=columns).to(device)
    return op(bias, x, y, beta=random(-2, 3).to(float), alpha=random(-2, 3).to(float))


@forms("torch.baddbmm")
@autotest(n=20, check_graph=True)
def test_batches_added(op):
    device = random_device()
    batch, rows, k, columns = random(1, 4), random(1, 6), random(1, 6), random(1, 6)
    bias = random_tensor(ndim=3, dim0=batch, dim1=rows, dim2=columns).to(device)
    x = random_tensor(ndim=3, dim0=batch, dim1=rows, dim2=k).to(device)
    y = random_tensor(ndim=3, dim0=batch, dim1=k, dim2=columns).to(device)
    return op(bias, x, y)


@forms("torch.tensordot")
@autotest(n=20, check_graph=True)
def test_contraction(op):
    device = random_device()
    j, k = random(1, 5), random(1, 5)
    x = random_tensor(ndim=3, dim1=j, dim2=k).to(device)
    y = random_tensor(ndim=3, dim0=j, dim1=k).to(device)
    return op(x, y, dims=2)


@autotest(n=20, check_graph=True)
def test_einsum():
    device = random_device()
    batch, k = random(1, 4), random(1, 6)
    x = random_tensor(ndim=3, dim0=batch, dim2=k).to(device)
    y = random_tensor(ndim=3, dim0=batch, dim1=k).to(device)
    return torch.einsum("bik,bkj->bij", x, y)


@autotest(n=20, check_graph=True)
def test_linear_function():
    device = random_device()
    k, out = random(1, 6), random(1, 6)
    x = random_tensor(ndim=3, dim2=k).to(device)
    weight = random_tensor(ndim=2, dim0=out, dim1=k).to(device)
    bias = random_tensor(ndim=1, dim0=out).to(device)
    return torch.nn.functional.linear(x, weight, bias)


@autotest(n=20, check_graph=True)
def test_linear_module():
    device = random_device()
    k = random(1, 6)
    m = torch.nn.Linear(k, random(1, 6), bias=random_bool()).to(device)
    x = random_tensor(ndim=2, dim1=k).to(device)
    return m(x)
