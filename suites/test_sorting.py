"""Ops that sort, rank and search."""

from __future__ import annotations

from rows import Op, args, eager_forms, main_forms, ops, other_forms, shape, size, tensor, untied, values, whole

from autotest import autotest, oneof, random_bool, torch


def along():
    """Draws a tensor and one of its dimensions."""
    return args(tensor(*shape(3)), dim=whole(-3, 3), descending=random_bool())


def sequence():
    """Draws ascending boundaries, and values to place among them."""
    return args(torch.cumsum(tensor(4, low=0.1, high=1, requires_grad=False), 0), tensor(*shape(2), low=0, high=3))


ROWS = (
    *ops("sort argsort", along),
    *ops("sort argsort", values(-1, 1, ndim=1), variant="default"),
    Op("topk", lambda: args(untied(size(), 4), whole(1, 5), dim=1)),
    Op("topk", lambda: args(untied(size(), 4), whole(1, 5), largest=random_bool()), variant="largest"),
    Op("topk", lambda: args(untied(4, size()), 2, dim=0, sorted=True), "torch", variant="first_dim"),
    Op("searchsorted", sequence, "torch"),
    Op("searchsorted", lambda: args(*sequence().args, right=True), "torch", variant="right"),
    Op("searchsorted", lambda: args(*sequence().args, out_int32=True), "torch", variant="int32"),
    *ops("nonzero argwhere", values(-1, 2, dtype=int), graph=False),
    Op("nonzero", lambda: args(tensor(*shape(2), low=-1, high=2, dtype=int), as_tuple=True), graph=False, variant="as"),
    Op("unique", lambda: args(tensor(size(2), low=0, high=3, dtype=int)), graph=False),
    Op(
        "unique",
        lambda: args(tensor(size(2), low=0, high=3, dtype=int), return_inverse=True, return_counts=True),
        graph=False,
        variant="all",
    ),
    Op("bincount", lambda: args(tensor(size(2), low=0, high=4, dtype=int)), graph=False),
    Op(
        "bincount", lambda: args(tensor(4, low=0, high=4, dtype=int), minlength=oneof(2, 7)), graph=False, variant="min"
    ),
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
def test_gather_what_argsort_found():
    x = tensor(size(), size())
    return torch.gather(x, 1, torch.argsort(x, dim=1).to(torch.int64))
