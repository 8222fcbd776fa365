"""Ops that sort, rank and search."""

from __future__ import annotations

import torch as pytorch
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
    shape,
    size,
    sizes,
    tensor,
    untied,
    values,
    whole,
    wrong_calls,
)

from autotest import autotest, dual_tensor, nothing, oneof, torch


def along(**named):
    """Draws a tensor and one of its dimensions."""

    def draw():
        ndim = rank()
        dim, descending = axis(ndim), flag()
        return args(tensor(*sizes(ndim, dim)), dim=dim, descending=descending, **named)

    return draw


def first_few():
    """Draws a tensor of four elements along one of its dimensions, and how many of them to find: none to all."""
    ndim = rank(3, 1, 2, 4, 5)
    dim, count, largest = axis(ndim), whole(0, 5), not flag()
    drawn = [*sizes(ndim, dim - 1)]
    drawn[dim] = 4
    return args(untied(*drawn), count, dim=dim, largest=largest, sorted=oneof(nothing(), True))


def many_tied():
    """Draws more elements than kernels sort at once, most of them tied: where they come from tells their order."""
    return args(tensor(1300, low=0, high=4, dtype=int), descending=flag(), stable=True)


def few_of_many():
    """Draws more elements than kernels sort at once, and how many of them to find: some, most or all."""
    return args(untied(1300), pick(5, 1290, 1300), largest=not flag())


def sequence():
    """Draws ascending boundaries, and values to place among them."""
    return args(torch.cumsum(tensor(4, low=0.1, high=1, requires_grad=False), 0), tensor(*shape(2), low=0, high=3))


def sequences():
    """Draws ascending boundaries, one list for all values or one for each row of them, and on which side to place."""
    ndim, own, right, narrow = rank(2, 0, 1, 3, 4), flag(), flag(), flag()
    *rows, count = sizes(ndim) or (1,)
    boundaries = torch.cumsum(tensor(*(rows if own else ()), size(1, 5), low=0.1, high=1, requires_grad=False), -1)
    values = tensor(*rows, count, low=0, high=3) if ndim else tensor(low=0, high=3)
    return args(boundaries, values, right=right, out_int32=narrow)


def met():
    """Draws ascending boundaries in rows, values that are among them, and on which side of those to place."""
    rows, right = size(), flag()
    boundaries = torch.cumsum(tensor(rows, 4, low=0, high=2, dtype="int64"), -1)
    return args(boundaries, tensor(rows, size(), low=0, high=5, dtype="int64"), right=right)


def ordered():
    """Draws descending boundaries with the order that they should have, and values that are among them."""
    right = flag()
    boundaries = torch.flip(torch.cumsum(tensor(2, 4, low=0, high=2, dtype="int64"), -1), (-1,))
    order = dual_tensor(pytorch.arange(3, -1, -1).repeat(2, 1))
    return args(boundaries, tensor(2, size(), low=0, high=5, dtype="int64"), right=right, sorter=order)


ROWS = (
    *ops("sort argsort", along()),
    *ops("sort argsort", values(-1, 1), variant="default"),
    *ops("sort argsort", along(stable=True), "torch", variant="stable"),
    *ops("sort argsort", many_tied, "torch", variant="many"),
    Op("topk", first_few),
    Op("topk", few_of_many, "torch", variant="many"),
    Op("topk", lambda: args(untied(4, size()), 2, dim=0, sorted=True), "torch", variant="first_dim"),
    Op("searchsorted", sequence, "torch", variant="default"),
    Op("searchsorted", sequences, "torch"),
    Op("searchsorted", met, "torch", variant="met"),
    Op("searchsorted", ordered, "torch", variant="sorter"),
    *ops("nonzero argwhere", values(-1, 2, dtype=int), graph=False),
    Op(
        "nonzero",
        lambda: args(tensor(*sizes(rank()), low=-1, high=2, dtype=int), as_tuple=True),
        graph=False,
        variant="as",
    ),
    Op("unique", lambda: args(tensor(size(2), low=0, high=3, dtype=int)), graph=False),
    Op(
        "unique",
        lambda: args(tensor(size(2), low=0, high=3, dtype=int), return_inverse=True, return_counts=True),
        graph=False,
        variant="all",
    ),
    Op(
        "bincount",
        lambda: args(tensor(size(2), low=0, high=4, dtype=int)),
        graph=False,
        errors={
            "matrix": lambda: args(tensor(2, 3, low=0, high=4, dtype=int)),
            "negative": lambda: args(tensor(3, low=-4, high=0, dtype=int)),
        },
    ),
    Op(
        "bincount", lambda: args(tensor(4, low=0, high=4, dtype=int), minlength=oneof(2, 7)), graph=False, variant="min"
    ),
    Op(
        "bincount",
        lambda: args(tensor(4, low=0, high=4, dtype=int), tensor(4, requires_grad=False), minlength=oneof(7, 2)),
        graph=False,
        variant="weights",
    ),
)


@main_forms(ROWS)
@autotest(n=20, coverage="pairs")
def test_op(call):
    return call()


@wrong_calls(ROWS)
@autotest(n=2, auto_backward=False, check_graph=False, coverage="none")
def test_errors(call):
    return call()


@other_forms(ROWS)
@autotest(n=10, coverage="none")
def test_form(call):
    return call()


@eager_forms(ROWS)
@autotest(n=5, check_graph=False)
def test_eager(call):
    return call()


@autotest(n=1, check_graph=False, coverage="none", missing="count")
def test_long_runs():
    """A run goes on where a kernel takes the next elements."""
    lengths = pytorch.tensor([700, 1, 2600, 3, 1300])
    x = dual_tensor(pytorch.tensor([1.0, 2.0, 1.0, 3.0, 2.0]).repeat_interleave(lengths))
    return torch.unique_consecutive(x, return_inverse=True, return_counts=True)


@autotest(n=10)
def test_gather_what_argsort_found():
    x = tensor(size(), size())
    return torch.gather(x, 1, torch.argsort(x, dim=1).to(torch.int64))
