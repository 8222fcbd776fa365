"""Ops that accumulate along a dimension."""

from __future__ import annotations

from rows import Op, args, main_forms, ops, other_forms, shape, size, tensor, whole

from autotest import autotest, random_dtype, torch


def along(low=0.5, high=1.5):
    """Draws a tensor and one of its dimensions."""
    return lambda: args(tensor(*shape(3), low=low, high=high), whole(0, 3))


def integers():
    """Draws an integer tensor and one of its dimensions."""
    return args(tensor(*shape(2), low=-3, high=4, dtype=random_dtype("int32", "int64")), whole(0, 2))


ROWS = (
    *ops("cumsum cumprod", along(), keywords="input dim"),
    *ops("cumsum cumprod", lambda: args(tensor(*shape(3), low=0.5), whole(-3, 0)), variant="from_the_end"),
    *ops("cumsum cumprod", integers, variant="integers"),
    Op("cumsum", lambda: args(tensor(size(), low=-1, high=1), 0), variant="1d"),
    Op("cumsum", lambda: args(tensor(*shape(3)).transpose(0, 2), whole(0, 3)), variant="transposed"),
)


@main_forms(ROWS)
@autotest(n=20, coverage="pairs")
def test_op(call):
    return call()


@other_forms(ROWS)
@autotest(n=10, coverage="none")
def test_form(call):
    return call()


@autotest(n=10)
def test_running_mean():
    x = tensor(size(), 4)
    return torch.cumsum(x, dim=1) / torch.arange(1, 5, dtype=torch.float32)
