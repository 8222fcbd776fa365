"""Shape and view, continued: joining tensors from lists and tuples, and splitting them into tuples."""

from __future__ import annotations

from rows import Op, args, main_forms, ops, other_forms, shape, size, tensor, values, whole, wrong_calls

from autotest import autotest, oneof


def fitting(container, **named):
    """Draws tensors that differ in their second size."""

    def draw():
        rows = size()
        return args(container(tensor(rows, size()) for _ in range(3)), dim=1, **named)

    return draw


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
    Op("stack", alike(list, dim=-1), "torch", variant="last"),
    Op("split", lambda: args(tensor(size(2), size(2)), whole(1, 4), dim=whole(0, 2))),
    Op("split", lambda: args(tensor(4, size()), [1, 2, 1], dim=0), variant="sizes"),
    Op("split", lambda: args(tensor(4, size()), (3, 1)), variant="tuple"),
    Op("chunk", lambda: args(tensor(size(), 4, size()), whole(1, 4), dim=1)),
    Op("unbind", lambda: args(tensor(size(), size(2)), dim=whole(0, 2))),
    Op("tensor_split", lambda: args(tensor(4, size()), (1, whole(2, 4)), dim=0), "torch"),
    Op("tensor_split", lambda: args(tensor(4, size()), whole(1, 4)), "torch", variant="sections"),
    *ops("hsplit", lambda: args(tensor(size(), 4), oneof(2, (1, 3))), "torch"),
    *ops("vsplit", lambda: args(tensor(4, size()), oneof(2, (1, 3))), "torch"),
    Op("meshgrid", lambda: args(tensor(size()), tensor(size()), indexing="ij"), "torch"),
    Op("meshgrid", lambda: args(tensor(size()), tensor(size()), indexing="xy"), "torch", variant="xy"),
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
