"""Elementwise ops of two or three operands: tensors that broadcast, and numbers on either side."""

from __future__ import annotations

import math

import pytest
import torch as pytorch
from forms import forms, member
from rows import (
    Op,
    args,
    main_forms,
    ops,
    other_forms,
    pick,
    rank,
    real,
    seldom,
    shape,
    size,
    sizes,
    tensor,
    wrong_calls,
)

from autotest import autotest, dual_tensor, each, oneof


def broadcasting():
    """Draws the sizes of two tensors of up to five dimensions that broadcast: one has fewer of them, or sizes of 1."""
    ndim, how = rank(2, 0, 1, 3, 5), pick("same", "row", "column", "fewer", "number", "outer")
    drawn = sizes(ndim)
    other = {"same": drawn, "row": (1, *drawn[1:])[:ndim], "column": (*drawn[:-1], 1)[:ndim]}
    other |= {"fewer": drawn[1:], "number": (), "outer": (*drawn[:-1], 1)[:ndim]}
    one = (1, *drawn[1:])[:ndim] if how == "outer" else drawn
    swapped = seldom()  # in place the first one must be the greater
    return (other[how], one) if swapped else (one, other[how])


def broadcast(low=-2, high=2, low_y=None, high_y=None, requires_grad=None, **named):
    """Draws two tensors that broadcast, and arguments of which each is one of its choices."""

    def draw():
        sizes_x, sizes_y = broadcasting()
        options = {key: pick(*choices) for key, choices in named.items()}
        x = tensor(*sizes_x, low=low, high=high, requires_grad=requires_grad)
        ends = {"low": low if low_y is None else low_y, "high": high if high_y is None else high_y}
        return args(x, tensor(*sizes_y, requires_grad=requires_grad, **ends), **options)

    return draw


def same(count, low=0.5, high=2, **named):
    """Draws `count` tensors of one shape, and arguments of which each is one of its choices."""

    def draw():
        drawn = sizes(rank(2, 0, 1, 3, 5))
        options = {key: pick(*choices) for key, choices in named.items()}
        return args(*(tensor(*drawn, low=low, high=high) for _ in range(count)), **options)

    return draw


def number(*choices, requires_grad=None):
    """Draws a tensor, and one of these numbers."""
    return lambda: args(tensor(*sizes(rank()), low=0.5, high=2, requires_grad=requires_grad), pick(*choices))


ROWS = (
    Op("add", broadcast(), "torch Tensor Tensor_ x+y x+=y", keywords="input other"),
    Op("sub", broadcast(), "torch Tensor Tensor_ x-y x-=y", keywords="input other"),
    Op("mul", broadcast(), "torch Tensor Tensor_ x*y x*=y", keywords="input other"),
    Op("div", broadcast(0.5, 3), "torch Tensor Tensor_ x/y x/=y", keywords="input other"),
    Op("pow", broadcast(0.5, 3), "torch Tensor x**y", keywords="input exponent"),
    Op("fmod", broadcast(0.5, 3), "torch Tensor x%y"),
    Op("floor_divide", broadcast(0.5, 3, requires_grad=False), "torch Tensor x//y"),
    Op("fmod", broadcast(-3, -0.5, 0.5, 3), "torch Tensor x%y", variant="of_negatives"),
    Op("floor_divide", broadcast(-3, -0.5, 0.5, 3, requires_grad=False), "torch x//y", variant="of_negatives"),
    *ops("maximum minimum", broadcast(), keywords="input other"),
    *ops("max min", broadcast(), variant="two_tensors"),
    Op("logaddexp", broadcast()),
    Op("atan2", same(2), keywords="input other"),
    Op("atan2", broadcast(0.5, 2), variant="broadcast"),
    *ops("addcmul addcdiv", same(3, value=(0.5, 0, -2, 1)), "torch Tensor Tensor_"),
    *ops("addcmul addcdiv", same(3), "torch", variant="default"),
    Op("add", broadcast(alpha=(0.5, 0, -2, 1)), "torch Tensor Tensor_", variant="alpha"),
    Op("sub", broadcast(alpha=(2, 0, -0.5, 1)), variant="alpha"),
    Op("div", broadcast(-3, 3, 0.5, 3, rounding_mode=("floor", None)), variant="floor"),
    Op("div", broadcast(-3, 3, 0.5, 3, rounding_mode=("trunc", None)), variant="trunc"),
    Op("add", number(2, -0.5, 0, 1, 3, True), "torch Tensor x+y x+=y", variant="number"),
    Op("sub", number(2, -0.5, 0, 1, 3), "torch Tensor x-y x-=y", variant="number"),
    Op("mul", number(2, -0.5, 0, 1, 3, True), "torch Tensor x*y x*=y", variant="number"),
    Op("div", number(2, -0.5, 1, 3, 0), "torch Tensor x/y x/=y", variant="number"),
    Op("pow", number(2, 3, 0.5, -1, 0, 1, -2, -0.5, 1.5), "torch Tensor x**y", variant="number"),
    Op(
        "pow",
        lambda: args(tensor(*sizes(rank()), low=-3, high=4, dtype="int64"), pick(2, 3, 0, 1)),
        "torch Tensor x**y",
        variant="whole",
        errors={"below_0": lambda: args(tensor(3, low=1, high=4, dtype="int64"), -1)},
    ),
    Op("fmod", number(0.7, 2, -1.5, -3), "torch x%y", variant="number"),
    Op("floor_divide", number(0.7, 2, -1.5, -3, requires_grad=False), "torch x//y", variant="number"),
)


@main_forms(ROWS)
@autotest(n=20, coverage="pairs")
def test_op(call):
    return call()


@other_forms(ROWS)
@autotest(n=10, coverage="none")
def test_form(call):
    return call()


@wrong_calls(ROWS)
@autotest(n=2, auto_backward=False, check_graph=False, coverage="none")
def test_errors(call):
    return call()


@forms("x+y", "x-y", "x*y", "x/y", "x**y", "x//y", "x%y")
@autotest(n=10)
def test_number_on_the_left(op):
    differentiable = op.id not in ("x//y", "x%y")
    return op(oneof(2, 0.5, 3.25).value(), tensor(*shape(2), low=0.6, high=1.9, requires_grad=differentiable))


@pytest.mark.parametrize("name", [
    "add", "sub", "mul", "div", "atan2", "hypot", "logaddexp", "matmul", "mm", "kron", "cdist",
    "nn.functional.linear", "nn.functional.mse_loss", "nn.functional.cosine_similarity",
])  # fmt: skip
@autotest(n=2, missing="count")
def test_with_itself(name):
    """Each use of a tensor has its share of the gradient."""
    x = tensor(3, 3, low=0.5, high=2)
    return member(f"torch.{name}")(x, x)


@pytest.mark.parametrize("ndims", [(0, 2), (1, 3), (3, 1), (0, 0)], ids=["0d_2d", "1d_3d", "3d_1d", "0d_0d"])
@autotest(n=10)
def test_add_of_other_ranks(ndims):
    last = size()
    x, y = (tensor(*shape(ndim - 1), last) if ndim else tensor() for ndim in ndims)
    return x + y


@autotest(n=10)
def test_outer_broadcast():
    return tensor(size(), 1, low=0.5) * tensor(1, size(), low=real(-2, 0))


#: Where kernels of two operands go wrong is often one pair of values: 0 to the 0, infinity less infinity.
EDGES = [sign * value for sign in (1, -1) for value in (0.0, 0.5, 1.0, 2.0, 3.0, 1e20, math.inf)]
ARITHMETIC = (
    *("add", "sub", "mul", "div", "pow", "fmod", "remainder", "maximum", "minimum"),
    *("logaddexp", "atan2", "copysign", "hypot", "xlogy"),
)
WITHOUT_GRADIENT = ("floor_divide", "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor")


@pytest.mark.parametrize("name", [*ARITHMETIC, *WITHOUT_GRADIENT])
@autotest(n=2, coverage="none", missing="count")
def test_each_edge_with_each(name):
    values = pytorch.tensor([*EDGES, math.nan], dtype=each(pytorch.float32, pytorch.float64).value())
    # Each pair is elements of its own: in the gradient of one that is broadcast, a NaN beside it would hide it.
    grids = (grid.contiguous() for grid in pytorch.meshgrid(values, values, indexing="ij"))
    return member(f"torch.{name}")(*(dual_tensor(grid.requires_grad_(name in ARITHMETIC)) for grid in grids))
