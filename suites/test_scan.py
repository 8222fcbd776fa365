"""Ops that accumulate along a dimension."""

from __future__ import annotations

import pytest
from forms import member
from looks import special_lines
from rows import args, axis, main_forms, ops, other_forms, pick, rank, size, sizes, tensor

from autotest import autotest, torch


def along(low=0.5, high=1.5):
    """Draws a tensor and one of its dimensions."""

    def draw():
        ndim = rank()
        dim = axis(ndim)
        return args(tensor(*sizes(ndim, dim), low=low, high=high), dim)

    return draw


def integers():
    """Draws an integer tensor and one of its dimensions."""
    ndim, dtype = rank(2, 0, 1, 3, 5), pick("int64", "int32", "int8", "uint8", "bool")
    return args(tensor(*sizes(ndim), low=0 if dtype in ("uint8", "bool") else -3, high=4, dtype=dtype), axis(ndim))


def summed_as():
    """Draws a tensor, one of its dimensions, and a dtype for the sums; integers have no gradient."""
    ndim, name = rank(2, 1, 5), pick("float64", "float32", "int64", "int32")
    dim, differentiable = axis(ndim), None if name.startswith("f") else False
    x = tensor(*sizes(ndim, dim), low=0.5, high=3, requires_grad=differentiable)
    return args(x, dim, dtype=getattr(torch, name))


ROWS = (
    *ops("cumsum cumprod", along(), keywords="input dim"),
    *ops("cumsum cumprod", integers, variant="integers"),
    *ops("cumsum cumprod", summed_as, variant="dtype"),
)


@main_forms(ROWS)
@autotest(n=20, coverage="pairs")
def test_op(call):
    return call()


@other_forms(ROWS)
@autotest(n=10, coverage="none")
def test_form(call):
    return call()


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"])
@autotest(n=1, coverage="none", missing="count")
def test_special_lines(name):
    x, dim = special_lines()
    return member(f"torch.{name}")(x, dim)


@autotest(n=10)
def test_running_mean():
    x = tensor(size(), 4)
    return torch.cumsum(x, dim=1) / torch.arange(1, 5, dtype=torch.float32)
