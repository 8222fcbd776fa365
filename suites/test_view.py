"""Ops that lay a tensor out anew: shapes, orders and strides of dimensions."""

from __future__ import annotations

from forms import forms

from autotest import autotest, oneof, random, random_device, random_tensor


@forms("torch.reshape", "Tensor.reshape", "Tensor.view")
@autotest(n=20, check_graph=True)
def test_new_shape(op):
    device = random_device()
    rows, columns = random(1, 6), random(1, 6)
    x = random_tensor(ndim=3, dim0=rows, dim1=columns, dim2=4).to(device)
    return op(x, (columns * 2, rows, -1))


@forms("torch.transpose", "Tensor.transpose", "torch.swapaxes", "torch.swapdims")
@autotest(n=20, check_graph=True)
def test_two_dimensions_swapped(op):
    device = random_device()
    x = random_tensor(ndim=4, dim0=random(1, 4), dim1=random(1, 4)).to(device)
    return op(x, random(0, 4).to(int).value(), random(-4, 0).to(int).value())


@forms("torch.permute", "Tensor.permute")
@autotest(n=20, check_graph=True)
def test_permute(op):
    device = random_device()
    x = random_tensor(ndim=3).to(device)
    return op(x, oneof((0, 2, 1), (1, 2, 0), (2, 0, 1), (-1, 0, 1)))


@forms("torch.t", "Tensor.t")
@autotest(n=20, check_graph=True)
def test_t(op):
    device = random_device()
    x = random_tensor(ndim=2).to(device)
    return op(x)


@autotest(n=20, check_graph=True)
def test_attribute_T():  # noqa: N802 - the attribute's own name
    device = random_device()
    x = random_tensor(ndim=2).to(device)
    return x.T


@forms("torch.movedim")
@autotest(n=20, check_graph=True)
def test_movedim(op):
    device = random_device()
    x = random_tensor(ndim=4, dim0=random(1, 4), dim1=random(1, 4)).to(device)
    return op(x, (0, 2), (random(0, 2).to(int), 3))


@forms("torch.squeeze", "Tensor.squeeze")
@autotest(n=20, check_graph=True)
def test_squeeze(op):
    device = random_device()
    x = random_tensor(ndim=3, dim1=oneof(1, 3)).to(device)
    return op(x, oneof(1, -2).value())


@forms("torch.unsqueeze", "Tensor.unsqueeze")
@autotest(n=20, check_graph=True)
def test_unsqueeze(op):
    device = random_device()
    x = random_tensor(ndim=2).to(device)
    return op(x, random(-3, 3).to(int).value())


@forms("torch.flatten", "Tensor.flatten")
@autotest(n=20, check_graph=True)
def test_flatten(op):
    device = random_device()
    x = random_tensor(ndim=4, dim0=random(1, 4), dim1=random(1, 4)).to(device)
    return op(x, start_dim=random(0, 2).to(int), end_dim=random(2, 4).to(int))


@forms("Tensor.expand")
@autotest(n=20, check_graph=True)
def test_expand(op):
    device = random_device()
    columns = random(1, 6)
    x = random_tensor(ndim=2, dim0=1, dim1=columns).to(device)
    return op(x, random(1, 5).to(int).value(), -1, columns.to(int).value())


@forms("torch.broadcast_to", "Tensor.broadcast_to")
@autotest(n=20, check_graph=True)
def test_broadcast_to(op):
    device = random_device()
    columns = random(1, 6)
    x = random_tensor(ndim=2, dim0=1, dim1=columns).to(device)
    return op(x, (random(1, 5).to(int), columns.to(int)))


@forms("Tensor.repeat", "torch.tile", "Tensor.tile")
@autotest(n=20, check_graph=True)
def test_repeated(op):
    device = random_device()
    x = random_tensor(ndim=2, dim0=random(1, 4), dim1=random(1, 4)).to(device)
    return op(x, (random(1, 4).to(int), random(1, 4).to(int), random(1, 4).to(int)))


@forms("torch.flip", "Tensor.flip")
@autotest(n=20, check_graph=True)
def test_flip(op):
    device = random_device()
    x = random_tensor(ndim=3).to(device)
    return op(x, [0, random(1, 3).to(int)])


@forms("torch.roll", "Tensor.roll")
@autotest(n=20, check_graph=True)
def test_roll(op):
    device = random_device()
    x = random_tensor(ndim=3).to(device)
    return op(x, random(-4, 5).to(int).value(), random(0, 3).to(int).value())


@forms("torch.diagonal", "Tensor.diagonal")
@autotest(n=20, check_graph=True)
def test_diagonal(op):
    device = random_device()
    x = random_tensor(ndim=3, dim0=random(2, 6), dim1=random(2, 6)).to(device)
    return op(x, offset=random(-1, 2).to(int), dim1=0, dim2=1)


@forms("torch.tril", "Tensor.tril", "torch.triu", "Tensor.triu")
@autotest(n=20, check_graph=True)
def test_triangle(op):
    device = random_device()
    x = random_tensor(ndim=3).to(device)
    return op(x, diagonal=random(-2, 3).to(int))


@forms("torch.narrow", "Tensor.narrow")
@autotest(n=20, check_graph=True)
def test_narrow(op):
    device = random_device()
    x = random_tensor(ndim=2, dim0=random(4, 8), dim1=random(4, 8)).to(device)
    return op(x, random(0, 2).to(int).value(), random(0, 3).to(int).value(), random(1, 3).to(int).value())


@forms("Tensor.contiguous", "Tensor.clone")
@autotest(n=20, check_graph=True)
def test_of_a_transposed_tensor(op):
    device = random_device()
    x = random_tensor(ndim=3).to(device)
    return op(x.transpose(0, 2))
