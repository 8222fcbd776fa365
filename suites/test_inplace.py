"""Ops that write to their first argument: on inputs, whose new values are compared, and on results in a backward."""

from __future__ import annotations

import pytest
from forms import forms

from autotest import autotest, random, random_device, random_tensor


@forms("Tensor.add_", "Tensor.sub_", "Tensor.mul_", "Tensor.div_", "x+=y", "x-=y", "x*=y", "x/=y")
@autotest(n=20, check_graph=True)
def test_two_operands(op):
    device = random_device()
    rows, columns = random(1, 6), random(1, 6)
    x = random_tensor(ndim=2, dim0=rows, dim1=columns).to(device)
    y = random_tensor(ndim=2, dim0=rows, dim1=columns, low=0.5, high=2).to(device)
    return op(x, y)


@forms("Tensor.relu_", "Tensor.sin_", "Tensor.floor_")
@autotest(n=20, check_graph=True)
def test_one_operand(op):
    device = random_device()
    x = random_tensor().to(device)
    return op(x)


@pytest.mark.parametrize("name", ["add_", "sub_", "mul_", "div_"])
@autotest(n=20, check_graph=True)
def test_input_is_written(name):
    device = random_device()
    x = random_tensor(requires_grad=False).to(device)
    getattr(x, name)(random(1, 4).to(float).value())
    return x


@autotest(n=20, check_graph=True)
def test_fill_():
    device = random_device()
    x = random_tensor(requires_grad=False).to(device)
    return x.fill_(random(-3, 4).to(float))


@autotest(n=20, check_graph=True)
def test_masked_fill_():
    device = random_device()
    rows, columns = random(1, 6), random(1, 6)
    x = random_tensor(ndim=2, dim0=rows, dim1=columns).to(device) * 2
    mask = random_tensor(ndim=2, dim0=rows, dim1=columns, dtype=bool).to(device)
    return x.masked_fill_(mask, random(-3, 3).to(float).value())


@autotest(n=20, check_graph=True)
def test_setitem_whole():
    device = random_device()
    rows, columns = random(1, 6), random(1, 6)
    x = random_tensor(ndim=2, dim0=rows, dim1=columns, requires_grad=False).to(device)
    y = random_tensor(ndim=2, dim0=rows, dim1=columns, requires_grad=False).to(device)
    x[:] = y
    return x * 2


@autotest(n=20, check_graph=True)
def test_setitem_slice():
    device = random_device()
    columns = random(1, 6)
    x = random_tensor(ndim=2, dim0=5, dim1=columns, requires_grad=False).to(device)
    y = random_tensor(ndim=2, dim0=2, dim1=columns, requires_grad=False).to(device)
    x[1:3] = y
    return x


@autotest(n=20, check_graph=True)
def test_setitem_number():
    device = random_device()
    x = random_tensor(ndim=2, dim0=random(2, 6), dim1=random(2, 6), requires_grad=False).to(device)
    x[:, random(0, 2)] = 3.0
    return x
