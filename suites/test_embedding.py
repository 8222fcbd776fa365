"""Embeddings: rows of a table, chosen by integers."""

from __future__ import annotations

from rows import Layer, Op, args, main_forms, other_forms, shape, size, tensor

from autotest import autotest, random_dtype, torch

_ROWS = 4


def chosen(ndim, dtype=int):
    """Indices into the table."""
    return tensor(*shape(ndim), low=0, high=_ROWS, dtype=dtype)


def function(**named):
    """Draws indices and a table."""
    return lambda: args(chosen(2), tensor(_ROWS, size()), **named)


def layer(**named):
    """Draws a table as a layer, and indices."""
    return lambda: (args(_ROWS, size(), **named), args(chosen(2)))


ROWS = (
    Op("embedding", function(), "F", keywords="input weight"),
    Op("embedding", function(padding_idx=1), "F", variant="padding_idx"),
    Op("embedding", lambda: args(chosen(1, random_dtype("int32", "int64")), tensor(_ROWS, size())), "F", variant="1d"),
    Op("embedding", lambda: args(chosen(3), tensor(_ROWS, size())), "F", variant="3d"),
    Op("embedding", function(scale_grad_by_freq=True), "F", variant="by_frequency"),
    Layer("Embedding", layer()),
    Layer("Embedding", layer(padding_idx=1), variant="padding_idx"),
    Layer("Embedding", layer(padding_idx=-1), variant="padding_from_the_end"),
    Layer("Embedding", lambda: (args(_ROWS, size()), args(chosen(0))), variant="0d"),
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
def test_sum_of_two_tables():
    width = size()
    words, places = torch.nn.Embedding(_ROWS, width), torch.nn.Embedding(3, width)
    return words(tensor(size(), 3, low=0, high=_ROWS, dtype=int)) + places(torch.arange(3))
