"""Shape and view, continued: joining tensors from lists and tuples, and splitting them into tuples."""

from __future__ import annotations

from rows import (
    Op,
    args,
    axis,
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

from autotest import autotest, oneof


def fitting(container):
    """Draws two tensors that differ in their sizes along one dimension, and joins them or some of them twice."""

    def draw():
        ndim, count = rank(3, 1, 2, 4, 5), pick(2, 3, 4)
        dim = axis(ndim)
        drawn = sizes(ndim, dim)
        x, y = tensor(*drawn), tensor(*drawn[: dim % ndim], 2, *drawn[dim % ndim + 1 :])
        return args(container((x, y, x, y)[:count]), dim=dim)

    return draw


def stacked():
    """Draws tensors of one shape, and where the new dimension comes."""
    ndim, count = rank(2, 0, 1, 3, 4), pick(2, 3)
    dim, drawn = axis(ndim + 1), sizes(ndim)
    x, y = tensor(*drawn), tensor(*drawn)
    return args([x, y, x][:count], dim=dim)


def parted(parts):
    """Draws a tensor of four elements along one of its dimensions, how to part it, and the dimension."""

    def draw():
        ndim = rank(3, 1, 2, 4, 5)
        dim, how = axis(ndim), parts()
        drawn = [*sizes(ndim, dim - 1)]
        drawn[dim] = 4
        return args(tensor(*drawn), how, dim=dim)

    return draw


def meshed():
    """Draws the coordinates of one to three dimensions."""
    return [tensor(size()) for _ in range(pick(2, 1, 3))]


def unbound():
    """Draws a tensor and the dimension that falls away."""
    ndim = rank(3, 1, 2, 4, 5)
    dim = axis(ndim)
    return args(tensor(*sizes(ndim, dim)), dim=dim)


def alike(container, ndim=2, **named):
    """Draws tensors of one shape."""

    def draw():
        sizes = shape(ndim)
        return args(container(tensor(*sizes) for _ in range(2)), **named)

    return draw


ROWS = (
    *ops("cat concat", fitting(list), "torch"),
    *ops("cat concat", fitting(tuple), "torch", variant="tuple"),
    Op(
        "cat",
        alike(list),
        "torch",
        variant="default",
        errors={
            "sizes": lambda: args([tensor(2, 3), tensor(2, 4)], dim=0),
            "ranks": lambda: args([tensor(2, 3), tensor(2)]),
            "dim": lambda: args([tensor(2, 3), tensor(2, 3)], dim=-3),
            "nothing": lambda: args([]),
        },
    ),
    *ops("stack hstack vstack dstack column_stack row_stack", alike(list), "torch"),
    *ops("stack hstack vstack dstack column_stack row_stack", alike(tuple), "torch", variant="tuple"),
    *ops("hstack vstack dstack column_stack", alike(list, ndim=1), "torch", variant="1d"),
    Op(
        "stack",
        stacked,
        "torch",
        variant="dim",
        errors={
            "sizes": lambda: args([tensor(2, 3), tensor(2, 1)]),
            "ranks": lambda: args([tensor(2, 3), tensor(3)]),
            "dim": lambda: args([tensor(2), tensor(2)], dim=2),
        },
    ),
    Op("split", parted(lambda: pick(2, 1, 3, 4, 7))),
    Op(
        "split",
        parted(lambda: pick([1, 2, 1], [4], [0, 4], [3, 0, 1])),
        variant="sizes",
        errors={
            "too_few": lambda: args(tensor(5), [2, 2]),
            "too_many": lambda: args(tensor(5), [2, 4]),
            "negative": lambda: args(tensor(5), [6, -1]),
        },
    ),
    Op("split", lambda: args(tensor(4, size()), (3, 1)), variant="tuple"),
    Op("chunk", parted(lambda: pick(2, 1, 3, 4, 7)), errors={"no_parts": lambda: args(tensor(4), 0)}),
    Op("unbind", unbound),
    Op("tensor_split", parted(lambda: pick((1, 3), (2,), (), (-1,), (3, 1), (0, 9))), "torch"),
    Op("tensor_split", parted(lambda: pick(2, 1, 3, 4, 7)), "torch", variant="sections"),
    *ops("hsplit", lambda: args(tensor(size(), 4, *sizes(rank(0, 1, 2))), oneof(2, 4, (1, 3), (-1,))), "torch"),
    *ops("vsplit", lambda: args(tensor(4, *sizes(rank(1, 2, 3))), oneof(2, 4, (1, 3), (-1,))), "torch"),
    Op("meshgrid", lambda: args(*meshed(), indexing="ij"), "torch"),
    Op("meshgrid", lambda: args(*meshed(), indexing="xy"), "torch", variant="xy"),
    Op("unbind", values(-1, 1), "torch", variant="default"),
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


@autotest(n=10)
def test_split_and_use_some():
    first, _, last = tensor(3, size()).chunk(3)
    return {"product": first * last, "pair": [first, last]}
