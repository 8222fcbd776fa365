"""Embeddings: rows of a table, chosen by integers."""

from __future__ import annotations

from rows import Layer, Op, args, flag, main_forms, other_forms, pick, rank, shape, size, sizes, tensor, wrong_calls

from autotest import autotest, torch

_ROWS = 4


def chosen(dtype=int):
    """Indices into the table, repeated ones among them."""
    return tensor(*sizes(rank(2, 0, 1, 3, 5)), low=0, high=_ROWS, dtype=dtype)


def function(**named):
    """Draws indices and a table."""
    return lambda: args(tensor(*shape(2), low=0, high=_ROWS, dtype=int), tensor(_ROWS, size()), **named)


def chosen_padding():
    """Draws which row has no gradient, if any, and whether gradients are divided by how often a row was chosen."""
    return {"padding_idx": pick(None, 0, 1, -1, _ROWS - 1, -_ROWS), "scale_grad_by_freq": flag()}


def looked_up():
    """Draws indices of either dtype, a table, and how its gradient is made."""
    options, dtype = chosen_padding(), pick("int64", "int32")
    return args(chosen(dtype), tensor(_ROWS, size()), **options)


def renormed():
    """Draws indices, a table, and the norm that a chosen row has at most."""
    options = {"max_norm": pick(0.5, 0.0, 2.0), "norm_type": pick(2.0, 1.0, 3.0, float("inf"))} | chosen_padding()
    return args(chosen(), tensor(_ROWS, size(), requires_grad=False) * 2, **options)


def divided():
    """Draws a table as a layer, and indices, by whose repetitions its gradients are divided."""
    return args(_ROWS, size(), scale_grad_by_freq=True), args(chosen())


def layer():
    """Draws a table as a layer, and indices."""
    options = {"max_norm": pick(None, 0.5, 2.0), "norm_type": pick(2.0, 1.0, float("inf"))} | chosen_padding()
    return args(_ROWS, size(), **options), args(chosen())


ROWS = (
    Op(
        "embedding",
        looked_up,
        "F",
        errors={
            "out_of_range": lambda: args(tensor(2, low=_ROWS, high=2 * _ROWS, dtype=int), tensor(_ROWS, 3)),
            "negative": lambda: args(tensor(2, low=-_ROWS, high=0, dtype=int), tensor(_ROWS, 3)),
            "no_rows": lambda: args(chosen(), tensor(0, 3)),
        },
    ),
    Op("embedding", function(), "F", variant="default", keywords="input weight"),
    Op("embedding", renormed, "F", variant="max_norm"),
    Layer("Embedding", layer),
    Layer("Embedding", lambda: (args(_ROWS, size()), args(chosen())), variant="default"),
    Layer("Embedding", divided, variant="scale_grad_by_freq"),
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


@wrong_calls(ROWS)
@autotest(n=2, auto_backward=False, check_graph=False, coverage="none")
def test_errors(call):
    return call()
