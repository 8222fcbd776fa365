"""Ops that reduce one dimension, several, or all."""

from __future__ import annotations

import pytest
from forms import member
from looks import special_lines
from rows import (
    Op,
    args,
    axes,
    axis,
    eager_forms,
    flag,
    leading,
    main_forms,
    ops,
    other_forms,
    pick,
    rank,
    shape,
    size,
    sizes,
    tensor,
    values,
    wrong_calls,
)

from autotest import autotest, nothing, oneof, torch


def along(low=0.5, high=1.5, **named):
    """Draws a tensor and one of its dimensions."""

    def draw():
        ndim = rank()
        dim = axis(ndim)
        return args(tensor(*sizes(ndim, dim), low=low, high=high), dim=dim, keepdim=flag(), **named)

    return draw


def over(low=0.5, high=1.5, **named):
    """Draws a tensor, and one or several of its dimensions."""

    def draw():
        ndim = rank()
        dim = axes(ndim)
        return args(tensor(*sizes(ndim, leading(dim)), low=low, high=high), dim=dim, keepdim=flag(), **named)

    return draw


def positional():
    """Draws a tensor, some of its dimensions and whether to keep them, all by position."""
    ndim = rank(3, 1, 5)
    dim = axes(ndim)
    return args(tensor(*sizes(ndim, leading(dim)), low=0.5, high=1.5), dim, flag())


def summed_as():
    """Draws a tensor, some of its dimensions, and a dtype for the sums; integers have no gradient."""
    ndim, name = rank(), pick("float64", "float32", "int64", "int32")
    dim, keepdim = axes(ndim), flag()
    x = tensor(*sizes(ndim, leading(dim)), low=0.5, high=3, requires_grad=None if name.startswith("f") else False)
    return args(x, dim=dim, keepdim=keepdim, dtype=getattr(torch, name))


def normed():
    """Draws a tensor, an order, and over which dimensions."""
    ndim = rank(3, 1, 2, 5)
    order = pick(2, 1, 3, 0, 0.5, float("inf"), float("-inf"))
    return args(tensor(*sizes(ndim), low=0.5), order, dim=axes(ndim), keepdim=flag())


def normed_along():
    """Draws a tensor, one of its dimensions, and the order of the norm of the vectors along it."""
    ndim, order = rank(3, 1, 2, 5), pick(2, 1, 3, 0, 0.5, float("inf"), float("-inf"))
    dim, keepdim = axis(ndim), flag()
    return args(tensor(*sizes(ndim, dim), low=0.5), ord=order, dim=dim, keepdim=keepdim)


def vectors_normed():
    """Draws a tensor, the order of a norm, and over which dimensions, perhaps all."""
    ndim = rank(3, 1, 2, 5)
    dims = None if flag() else axes(ndim)
    order = pick(2, 1, 3, 0, 0.5, float("inf"), float("-inf"))
    return args(tensor(*sizes(ndim), low=0.5), ord=order, dim=dims, keepdim=flag())


def matrices_normed(*orders):
    """Draws a tensor, the order of a norm, and the two dimensions of its matrices."""

    def draw():
        ndim, dims = rank(3, 2, 4, 5), pick((-2, -1), (0, 1), (1, 0), (-1, 0))
        return args(tensor(*sizes(ndim), low=0.5), ord=pick(*orders), dim=dims, keepdim=flag())

    return draw


def cut():
    """Draws a tensor, one or several shares of its elements, and how to read between two of them."""
    ndim = rank(2, 1, 3, 5)
    dim, keepdim, several = None if flag() else axis(ndim), flag(), flag()
    between = oneof(nothing(), "lower", "higher", "midpoint", "nearest")
    share = tensor(size(1, 4), low=0, high=1, requires_grad=False) if several else pick(0.3, 0.0, 0.5, 1.0)
    return args(tensor(*sizes(ndim)), share, dim=dim, keepdim=keepdim, interpolation=between)


def with_nans():
    """Draws a tensor with NaNs among its values."""
    return args(torch.sqrt(tensor(*sizes(rank()), requires_grad=False)))


def over_nans():
    """Draws a tensor with NaNs among its values, and some of its dimensions."""
    ndim = rank()
    dims, keepdim = axes(ndim), flag()
    return args(torch.sqrt(tensor(*sizes(ndim), requires_grad=False)), dim=dims, keepdim=keepdim)


#: What there is none of has no greatest.
OF_NOTHING = {"nothing": lambda: args(tensor(2, 0), dim=1)}

ROWS = (
    *ops("sum mean prod", values(0.5, 1.5), variant="whole"),
    *ops("max min amax amin", values(-1, 1), variant="whole", errors={"nothing": lambda: args(tensor(0, 3))}),
    *ops("sum mean logsumexp amax amin", over()),
    Op("logsumexp", lambda: args(torch.full((2, 3), float("-inf")), 1), "torch", variant="impossible"),
    Op("prod", along()),
    *ops("sum mean amax", positional, "torch", keywords="input dim keepdim", variant="by_position"),
    *ops("max min", along(-1, 1), errors=OF_NOTHING),
    Op("median", lambda: args(tensor(oneof(1, 3, 5)))),
    Op("median", along(-1, 1), variant="dim"),
    Op("median", values(-1, 1), "torch", variant="even"),
    *ops("var std", over(), variant="default"),
    *ops("var std", lambda: over(unbiased=flag())(), errors={"integers": lambda: args(tensor(2, 3, dtype=int))}),
    *ops("var std", lambda: args(tensor(*sizes(rank(2, 0, 1, 5))), unbiased=flag()), variant="whole"),
    # Far from 0 the mean of squares less the square of the mean has no digits left.
    *ops("var std", over(300.0, 302.0), "torch", variant="far"),
    Op("norm", over(), keywords=""),
    Op("norm", values(0.5, 1.5), variant="whole"),
    Op("norm", normed, variant="p"),
    Op("norm", normed_along, "linalg", variant="linalg"),
    Op("vector_norm", vectors_normed, "linalg"),
    Op("matrix_norm", lambda: args(tensor(*sizes(rank(3, 2, 4, 5)), low=0.5)), "linalg"),
    Op("matrix_norm", matrices_normed("fro", 1, -1, float("inf"), float("-inf")), "linalg", variant="ord"),
    *ops("argmax argmin", along(-1, 1), errors=OF_NOTHING),
    *ops("argmax argmin", values(-1, 1), "torch Tensor", variant="whole"),
    *ops("argmax argmin", lambda: args(tensor(*sizes(rank())), keepdim=flag()), "torch Tensor", variant="whole_kept"),
    Op("nansum", with_nans),
    Op("nansum", over_nans, variant="dim"),
    Op("quantile", cut, "torch"),
    Op("numel", values(-1, 1), graph=False),
    Op("sum", summed_as, variant="dtype"),
    Op("sum", values(-1, 1, ndim=0), "torch", variant="0d"),
)


@main_forms(ROWS)
@autotest(n=20, coverage="pairs")
def test_op(call):
    return call()


@other_forms(ROWS)
@autotest(n=10, coverage="none")
def test_form(call):
    return call()


@eager_forms(ROWS)
@autotest(n=5, check_graph=False)
def test_eager(call):
    return call()


@pytest.mark.parametrize("name", [
    "sum", "mean", "prod", "nansum", "nanmean", "max", "min", "amax", "amin", "aminmax", "argmax", "argmin", "median",
    "nanmedian", "mode", "logsumexp", "softmax", "log_softmax", "var", "std", "var_mean", "norm", "count_nonzero",
    "all", "any", "sort", "argsort", "topk", "kthvalue", "diff", "quantile", "nanquantile", "renorm",
    "cumulative_trapezoid",
])  # fmt: skip
@autotest(n=1, coverage="none", missing="count")
def test_special_lines(name):
    x, dim = special_lines()
    op = member(f"torch.{name}")
    if name in ("topk", "kthvalue"):
        return op(x, 2, dim)
    if name in ("quantile", "nanquantile"):
        return op(x, 0.5, dim)
    return op(x, 2.0, dim=dim, maxnorm=1.0) if name == "renorm" else op(x, dim=dim)


@wrong_calls(ROWS)
@autotest(n=2, auto_backward=False, check_graph=False, coverage="none")
def test_errors(call):
    return call()


@autotest(n=10)
def test_softmax_by_hand():
    x = tensor(*shape(2))
    e = torch.exp(x - torch.amax(x, dim=1, keepdim=True))
    return e / e.sum(dim=1, keepdim=True)
