"""Ops that lay a tensor out anew: shapes, orders, strides and repeats of dimensions."""

from __future__ import annotations

from rows import Op, args, eager_forms, main_forms, ops, other_forms, shape, size, tensor, values, whole, wrong_calls

from autotest import autotest, oneof


def new_shape():
    """Draws a tensor and a shape of as many elements."""
    rows, columns = shape(2)
    return args(tensor(rows, columns, 4), (columns * 2, rows, -1))


def like_another():
    """Draws two tensors of as many elements."""
    rows, columns = shape(2)
    return args(tensor(rows, columns), tensor(columns, rows))


def swapped():
    """Draws a tensor and two of its dimensions."""
    return args(tensor(*shape(4, high=4)), whole(0, 4), whole(-4, 0))


def expanded():
    """Draws a tensor with a dimension of 1, and the sizes to expand it to."""
    columns = size()
    return args(tensor(1, columns), whole(1, 5), -1, columns.value())


def broadcast():
    """Draws a tensor with a dimension of 1, and a shape to broadcast it to."""
    columns = size()
    return args(tensor(1, columns), (whole(1, 5), columns))


def expanded_as():
    """Draws a tensor with a dimension of 1, and another to expand it as."""
    columns = size()
    return args(tensor(1, columns), tensor(size(), columns))


def square():
    """Draws two leading dimensions of at least two elements."""
    return tensor(size(2), size(2), size())


ROWS = (
    Op("reshape", new_shape, keywords="input shape"),
    Op(
        "view",
        new_shape,
        "Tensor",
        errors={
            "size": lambda: args(tensor(2, 3), (4, 2)),
            "inferred_twice": lambda: args(tensor(2, 3), (-1, -1)),
            "strides": lambda: args(tensor(2, 3).contiguous().t(), (6,)),
        },
    ),
    *ops("view_as reshape_as", like_another, "Tensor"),
    *ops("transpose swapaxes swapdims", swapped),
    Op("transpose", swapped, "torch", keywords="input dim0 dim1", variant="named"),
    Op("permute", lambda: args(tensor(*shape(3)), oneof((0, 2, 1), (1, 2, 0), (2, 0, 1), (-1, 0, 1)))),
    Op("t", values(-1, 1)),
    Op("t", values(-1, 1, ndim=1), "torch", variant="1d"),
    Op("movedim", lambda: args(tensor(*shape(4, high=4)), (0, 2), (whole(0, 2), 3)), "torch"),
    Op("squeeze", lambda: args(tensor(size(), oneof(1, 3), size()), oneof(1, -2))),
    Op("squeeze", lambda: args(tensor(size(2), 1, size(2), 1)), variant="all"),
    Op("unsqueeze", lambda: args(tensor(*shape(2)), whole(-3, 3))),
    Op("flatten", lambda: args(tensor(*shape(4, high=4)), start_dim=whole(0, 2), end_dim=whole(2, 4))),
    Op("flatten", values(-1, 1, ndim=0), "torch", variant="0d"),
    Op("expand", expanded, "Tensor"),
    Op("expand_as", expanded_as, "Tensor"),
    Op("broadcast_to", broadcast),
    Op("broadcast_tensors", lambda: args(*expanded_as().args), "torch"),
    *ops("tile", lambda: args(tensor(*shape(2, high=4)), (whole(1, 4), whole(1, 4), whole(1, 4)))),
    Op("tile", lambda: args(tensor(*shape(3, high=4)), (whole(1, 4),)), variant="fewer"),
    Op("repeat", lambda: args(tensor(*shape(2, high=4)), whole(1, 4), whole(1, 4), whole(1, 4)), "Tensor"),
    Op("repeat_interleave", lambda: args(tensor(*shape(2)), whole(1, 4), dim=whole(0, 2))),
    Op("repeat_interleave", lambda: args(tensor(*shape(2)), whole(1, 4)), variant="flat"),
    Op("flip", lambda: args(tensor(*shape(3)), [0, whole(1, 3)]), keywords="input dims"),
    Op("roll", lambda: args(tensor(*shape(3)), whole(-4, 5), whole(0, 3))),
    Op("roll", lambda: args(tensor(*shape(3)), (whole(-2, 3), 1), (0, 2)), variant="two"),
    Op("roll", lambda: args(tensor(*shape(2)), whole(-4, 5)), variant="flat"),
    Op("diagonal", lambda: args(square(), offset=whole(-1, 2), dim1=0, dim2=1), "torch Tensor"),
    Op("diagonal", lambda: args(square(), offset=whole(-1, 2), dim1=0, dim2=1), "linalg", variant="linalg"),
    Op("diag", lambda: args(tensor(size(2), size(2)), whole(-1, 2))),
    Op("diag", lambda: args(tensor(size()), whole(-2, 3)), variant="1d"),
    *ops("tril triu", lambda: args(tensor(*shape(3)), diagonal=whole(-2, 3)), keywords=""),
    Op("triu", values(-1, 1), "Tensor_", variant="in_place"),
    Op("narrow", lambda: args(tensor(4, 4), whole(0, 2), whole(0, 3), whole(1, 2)), keywords="input dim start length"),
    *ops("contiguous clone", lambda: args(tensor(*shape(3)).transpose(0, 2)), "Tensor"),
    Op("as_strided", lambda: args(tensor(4, 4), (2, 3), (4, 1), whole(0, 4))),
    Op("unfold", lambda: args(tensor(4, size()), 0, whole(1, 4), whole(1, 3)), "Tensor"),
    *ops("atleast_1d atleast_2d atleast_3d", values(-1, 1, ndim=0), "torch"),
    *ops("atleast_1d atleast_2d atleast_3d", values(-1, 1, ndim=2), "torch", variant="2d"),
    Op("type_as", lambda: args(tensor(*shape(2)), tensor(2, dtype="float64")), "Tensor"),
    *ops("dim ndimension nelement", values(-1, 1), "Tensor", graph=False),
    *ops("size is_contiguous storage_offset stride", lambda: args(tensor(*shape(2)).t()), "Tensor", graph=False),
    Op("element_size", values(-1, 1), "Tensor", graph=False),
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


@eager_forms(ROWS)
@autotest(n=5, check_graph=False)
def test_eager(call):
    return call()


@autotest(n=10)
def test_attribute_T():  # noqa: N802 - the attribute's own name
    return tensor(*shape(2)).T


@autotest(n=10)
def test_a_chain_of_views():
    x = tensor(size(), 4, size())
    return x.transpose(0, 1)[1:3].reshape(2, -1).unsqueeze(1) * 2
