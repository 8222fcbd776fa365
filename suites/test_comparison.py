"""Comparison and logic: ops with bool results."""

from __future__ import annotations

from rows import (
    Op,
    args,
    axis,
    eager_forms,
    flag,
    main_forms,
    ops,
    other_forms,
    pick,
    rank,
    real,
    size,
    sizes,
    tensor,
    values,
    whole,
)

from autotest import autotest, oneof, random_dtype, torch


def integers(dtype=int, high=3):
    """Draws two tensors that broadcast, with many equal elements."""

    def draw():
        ndim, how = rank(2, 0, 1, 3, 5), pick("same", "row", "column", "fewer")
        drawn = sizes(ndim)
        other = {"same": drawn, "row": (1, *drawn[1:])[:ndim], "column": (*drawn[:-1], 1)[:ndim], "fewer": drawn[1:]}
        return args(tensor(*drawn, low=0, high=high, dtype=dtype), tensor(*other[how], low=0, high=high, dtype=dtype))

    return draw


def flags_and_integers():
    """Draws a tensor of booleans, and one of integers that may be neither 0 nor 1."""
    drawn = sizes(rank())
    return args(tensor(*drawn, low=0, high=2, dtype=bool), tensor(*drawn, low=-1, high=4, dtype="int8"))


def neighbours():
    """Draws two tensors of integers beyond what a float32 holds, equal or one apart."""
    drawn = sizes(rank())
    x = tensor(*drawn, low=1 << 24, high=1 << 30, dtype=int)
    return args(x, x + tensor(*drawn, low=0, high=2, dtype=int))


def number():
    """Draws a tensor and a number."""
    return args(tensor(*sizes(rank())), oneof(0.5, 0, -1, True, real(-1, 1)).value())


def not_finite():
    """Draws a tensor with infinities and NaNs among its values."""
    return args(torch.log(tensor(*sizes(rank())).relu()) * whole(0, 2))


def nearly():
    """Draws two tensors that are close in some elements, and how close is close enough."""
    far, rtol, atol, equal = pick(1e-3, 0.0, 1e-6), pick(1e-3, 0.0, 0.5), pick(1e-3, 0.0, 1e-5), flag()
    x = tensor(*sizes(rank()), requires_grad=False)
    return args(x, x + far, rtol=rtol, atol=atol, equal_nan=equal)


def per_dimension():
    """Draws bools, and a dimension."""
    ndim = rank()
    dim = axis(ndim)
    return args(tensor(*sizes(ndim, dim), dtype=bool, low=0, high=2), dim=dim, keepdim=flag())


ROWS = (
    Op("eq", integers(), "torch Tensor x==y", keywords="input other"),
    Op("ne", integers(), "torch Tensor x!=y"),
    Op("lt", integers(), "torch Tensor x<y"),
    Op("le", integers(), "torch Tensor x<=y"),
    Op("gt", integers(), "torch Tensor x>y"),
    Op("ge", integers(), "torch Tensor x>=y"),
    *ops("greater greater_equal not_equal", integers(), "torch"),
    Op("eq", number, "torch x==y", variant="number"),
    Op("ne", number, "torch x!=y", variant="number"),
    Op("lt", number, "torch Tensor x<y", variant="number"),
    Op("le", number, "torch x<=y", variant="number"),
    Op("gt", number, "torch x>y", variant="number"),
    Op("ge", number, "torch Tensor x>=y", variant="number"),
    Op("eq", integers(bool, 2), "torch x==y", variant="bool"),
    *ops("eq ne lt ge", flags_and_integers, "torch", variant="bool_and_int"),
    *ops("logical_and logical_or logical_xor", integers(bool, 2)),
    *ops("eq ne lt le gt ge", neighbours, "torch", variant="neighbours"),
    *ops("eq lt logical_and logical_or logical_xor", integers("float32", 2), "torch", variant="reals"),
    *ops("logical_and logical_or logical_xor", integers(), "torch", variant="integers"),
    Op("logical_and", integers(bool, 2), "x&y", variant="bool"),
    Op("logical_or", integers(bool, 2), "x|y", variant="bool"),
    Op("logical_xor", integers(bool, 2), "x^y", variant="bool"),
    Op("logical_not", values(0, 2, dtype=bool), "torch Tensor ~x"),
    Op("logical_not", values(-1, 2, dtype=int), "torch", variant="integers"),
    *ops("any all", per_dimension),
    *ops("any all", values(0, 2, dtype=bool), "torch Tensor", variant="whole"),
    *ops("any all", values(-1, 2, dtype=int), "torch", variant="integers"),
    *ops("any all", values(1, 9, dtype=int), "torch", variant="nonzero"),
    *ops("isnan isinf", not_finite),
    Op("isfinite", not_finite, "torch"),
    Op("isclose", nearly),
    *ops("equal allclose", integers(float, 2), graph=False),
    Op("allclose", nearly, graph=False, variant="tolerance"),
    Op("is_nonzero", values(-1, 1, ndim=0), "torch", graph=False),
    *ops("is_floating_point", values(-1, 1), "torch Tensor", graph=False),
    *ops("is_tensor", values(-1, 1), "torch", graph=False),
)


@main_forms(ROWS)
@autotest(n=20, coverage="pairs")
def test_op(call):
    return call()


@autotest(n=5, coverage="none")
def test_isclose_by_position():
    # Where one tolerance is taken for the other, nothing is close.
    x = tensor(*sizes(rank()), requires_grad=False)
    return torch.isclose(x, x * 0, 0.0, 1.0)


@other_forms(ROWS)
@autotest(n=10, coverage="none")
def test_form(call):
    return call()


@eager_forms(ROWS)
@autotest(n=5, check_graph=False)
def test_eager(call):
    return call()


@autotest(n=10)
def test_comparison_of_dtypes():
    x = tensor(3, size(), low=0, high=4, dtype=random_dtype("float32", "int64", "int32"))
    return x.to(torch.int32) > 1
