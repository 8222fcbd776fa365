"""Ops that reduce one dimension, several, or all."""

from __future__ import annotations

from rows import Op, args, eager_forms, main_forms, ops, other_forms, shape, size, tensor, values, whole

from autotest import autotest, oneof, random_bool, torch


def along(low=0.5, high=1.5, **named):
    """Draws a tensor and one of its dimensions."""
    return lambda: args(tensor(*shape(3), low=low, high=high), dim=whole(-3, 3), keepdim=random_bool(), **named)


def two(**named):
    """Draws a tensor and two of its dimensions."""
    return lambda: args(tensor(*shape(4, high=4)), dim=(whole(0, 2), whole(2, 4)), keepdim=random_bool(), **named)


def spread():
    """Draws a tensor of at least two elements per dimension."""
    return args(
        tensor(size(2), size(2)),
        dim=whole(-2, 2),
        unbiased=random_bool(),
        keepdim=random_bool(),
    )


def positional():
    """Draws a tensor, one of its dimensions and whether to keep it, all by position."""
    return args(tensor(*shape(3), low=0.5, high=1.5), whole(-3, 3), random_bool().value())


def with_nans():
    """Draws a tensor with NaNs among its values."""
    return args(torch.sqrt(tensor(*shape(2), requires_grad=False)))


ROWS = (
    *ops("sum mean prod", values(0.5, 1.5), variant="whole"),
    *ops("max min amax amin", values(-1, 1), variant="whole"),
    *ops("sum mean prod logsumexp amax amin", along()),
    *ops("sum mean amax", positional, "torch", keywords="input dim keepdim", variant="by_position"),
    *ops("sum mean", two(), variant="two"),
    *ops("amax amin logsumexp", two(), variant="two"),
    *ops("max min", along(-1, 1)),
    Op("median", lambda: args(tensor(oneof(1, 3, 5)))),
    Op("median", lambda: args(tensor(size(), oneof(1, 3)), dim=1, keepdim=random_bool()), variant="dim"),
    Op("median", values(-1, 1), "torch", variant="even"),
    *ops("var std", spread),
    *ops("var std", lambda: args(tensor(size(2), size(2))), variant="whole"),
    Op("norm", along(), keywords=""),
    Op("norm", values(0.5, 1.5), variant="whole"),
    Op("norm", lambda: args(tensor(*shape(2), low=0.5), oneof(1, 2, 3, float("inf")).value(), dim=1), variant="p"),
    Op("norm", lambda: args(tensor(*shape(2), low=0.5), dim=whole(0, 2)), "linalg", variant="linalg"),
    Op("vector_norm", lambda: args(tensor(*shape(2), low=0.5), ord=oneof(1, 2, 3), dim=whole(0, 2)), "linalg"),
    Op("matrix_norm", lambda: args(tensor(*shape(3), low=0.5)), "linalg"),
    Op("matrix_norm", lambda: args(tensor(*shape(3), low=0.5), ord=oneof(1, float("inf"))), "linalg", variant="ord"),
    *ops("argmax argmin", along(-1, 1)),
    *ops("argmax argmin", values(-1, 1), "torch Tensor", variant="whole"),
    Op("nansum", with_nans),
    Op("nansum", lambda: args(with_nans().args[0], dim=whole(0, 2)), variant="dim"),
    Op("quantile", lambda: args(tensor(*shape(2)), oneof(0.0, 0.3, 0.5, 1.0), dim=whole(0, 2)), "torch"),
    Op("numel", values(-1, 1), graph=False),
    Op("sum", lambda: args(tensor(*shape(2)), dtype=torch.float64), variant="dtype"),
    Op("sum", values(-1, 1, ndim=0), "torch", variant="0d"),
    Op("sum", lambda: args(tensor(*shape(3)).transpose(0, 2), dim=whole(0, 3)), "torch", variant="transposed"),
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


@autotest(n=10)
def test_softmax_by_hand():
    x = tensor(*shape(2))
    e = torch.exp(x - torch.amax(x, dim=1, keepdim=True))
    return e / e.sum(dim=1, keepdim=True)
