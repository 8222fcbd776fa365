"""Elementwise ops of one tensor."""

from __future__ import annotations

import pytest
import torch as pytorch
from forms import member
from rows import Op, args, main_forms, ops, other_forms, pick, rank, real, shape, sizes, tensor, values

from autotest import autotest, dual_tensor, each, oneof, torch


def clamped():
    """Draws a tensor, and a lower and an upper end, numbers or None, the lower one perhaps above the upper."""
    low, high = pick(-1.5, None, 0, -0.5, 2.0), pick(1.0, None, 0, 0.5)
    return args(tensor(*sizes(rank()), low=-3, high=3), low, high)


def bound():
    """Draws a tensor and a number."""
    return args(tensor(*sizes(rank()), low=-3, high=3), oneof(0.5, 0, -1, 1, real(-1, 1)).value())


ROWS = (
    *ops("neg", values(-3, 3), "torch Tensor -x"),
    *ops("abs", values(-3, 3), "torch Tensor abs(x)", keywords="input"),
    *ops("negative arctan atan asinh arcsinh cosh erf erfc expm1 square sinh tan", values(-1.4, 1.4)),
    *ops("exp expm1", values(85, 88.7, dtype="float32"), "torch", variant="great"),
    *ops("cosh sinh", values(85, 89.4, dtype="float32"), "torch", variant="great"),
    *ops("sin floor", values(-3, 3), "torch Tensor Tensor_"),
    *ops("sign ceil round trunc cos", values(-3, 3)),
    *ops("exp sigmoid tanh", values(-3, 3), keywords="input"),
    *ops("log log2 log10 log1p rsqrt reciprocal", values(0.2, 4)),
    *ops("sqrt", values(0.2, 4), keywords="input"),
    *ops("asin acos arcsin arccos atanh arctanh", values(-0.9, 0.9)),
    *ops("erfinv", values(-0.9, 0.9), "torch Tensor Tensor_"),
    *ops("acosh arccosh", values(1.1, 4)),
    *ops("lgamma", values(0.2, 4), "torch"),
    *ops(
        "clamp clip",
        clamped,
        "torch Tensor Tensor_",
        keywords="input min max",
    ),
    Op("clamp", lambda: args(tensor(*shape(2), low=-3, high=3), max=real(0, 2)), "torch", variant="max"),
    *ops("clamp_min clamp_max", bound, "torch Tensor Tensor_"),
    Op("sigmoid", values(0, 1, ndim=0), "torch", variant="0d"),
    Op("exp", values(0, 1, ndim=5), "torch", variant="5d"),
    Op("sqrt", lambda: args(tensor(4, 3, low=0.5, high=2)[::2]), "torch", variant="every_second"),
)

#: Near zero a formula that cancels has no digit left, and a kernel that flushes loses what is there. The ordinary
#: tolerance allows both around zero, so here is none but a relative one.
SMALL = (
    *ops(
        "log1p expm1 sin tan sinh tanh asin atan asinh atanh erf erfinv", values(1e-9, 1e-6, dtype="float32"), "torch"
    ),
    *ops("neg abs sign ceil", values(1e-44, 1e-38, dtype="float32"), "torch"),
    *ops("exp sigmoid", values(-80, -20, dtype="float32"), "torch", variant="tail"),
    Op("erfc", values(2, 8, dtype="float32"), "torch", variant="tail"),
)


@main_forms(ROWS)
@autotest(n=20, coverage="pairs")
def test_op(call):
    return call()


@main_forms(SMALL)
@autotest(n=5, rtol=1e-4, atol=0.0, coverage="none")
def test_near_zero(call):
    return call()


@other_forms(ROWS)
@autotest(n=10, coverage="none")
def test_form(call):
    return call()


@pytest.mark.parametrize("name", ["ceil", "floor", "frac", "round", "trunc"])
@autotest(n=1, rtol=0.0, atol=0.0, coverage="none", missing="count", unsupported="count")
def test_where_numbers_are_whole(name):
    """Halves, and numbers so great that all are whole: who adds a half and rounds down is off by one there."""
    dtype = each(pytorch.float16, pytorch.bfloat16, pytorch.float32, pytorch.float64).value()
    steps = pytorch.arange(9, dtype=pytorch.float64)
    least = 1 / pytorch.finfo(dtype).eps
    numbers = pytorch.cat([(least - steps) / 2, least + steps])
    return member(f"torch.{name}")(dual_tensor(pytorch.cat([numbers, -numbers]).to(dtype)))


@pytest.mark.parametrize("name", ["abs", "sgn"])
@autotest(n=1, rtol=1e-5, atol=0.0, coverage="none", missing="count", unsupported="count")
def test_far_complex_numbers(name):
    """The square of a part leaves the range, and the result does not."""
    dtype = each(pytorch.complex64, pytorch.complex128).value()
    ends = pytorch.finfo(dtype)
    parts = pytorch.tensor([ends.max**0.5 * 4, 1.0, ends.smallest_normal**0.5 / 4], dtype=dtype.to_real())
    x = pytorch.complex(*(grid.contiguous() for grid in pytorch.meshgrid(parts, -2 * parts, indexing="ij")))
    return member(f"torch.{name}")(dual_tensor(x))


@pytest.mark.parametrize("name", ["clamp", "clip"])
@autotest(n=3, coverage="none")
def test_clamped_to_one_number(name):
    x = tensor(*sizes(rank()))
    return getattr(torch, name)(x - x.detach(), 0, 0)


@autotest(n=10)
def test_a_chain_of_ops():
    x = tensor(*shape(2), low=0.5, high=2)
    y = torch.exp(-x) + x.log() * 2
    return torch.tanh(y) / (1 + y.abs())
