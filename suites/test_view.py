"""Ops that lay a tensor out anew: shapes, orders, strides and repeats of dimensions."""

from __future__ import annotations

from rows import (
    Op,
    args,
    axes,
    axis,
    eager_forms,
    flag,
    leading,
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
    whole,
    wrong_calls,
)

from autotest import autotest


def new_shape():
    """Draws a tensor and a shape of as many elements, of one dimension to five, one of them perhaps left open."""
    rows, columns = size().value(), size().value()
    form = pick("swapped", "flat", "open", "deep", "same", "last_open")
    shapes = {"swapped": (columns * 2, rows, 2), "flat": (rows * columns * 4,), "open": (-1, columns, 4)}
    shapes |= {"deep": (rows, 2, columns, 1, 2), "same": (rows, columns, 4), "last_open": (columns * 2, 2, -1)}
    return args(tensor(rows, columns, 4), shapes[form])


def like_another():
    """Draws two tensors of as many elements."""
    rows, columns = shape(2)
    return args(tensor(rows, columns), tensor(columns, rows))


def swapped():
    """Draws a tensor and two of its dimensions, perhaps one twice."""
    ndim = rank(4, 1, 2, 3, 5)
    one, other = axis(ndim), axis(ndim)
    return args(tensor(*sizes(ndim, one)), one, other)


def permuted():
    """Draws a tensor and an order of its dimensions, counted from either end."""
    ndim, turn, mirrored, from_end = rank(3, 0, 1, 2, 4, 5), pick(1, 0, 2, 3), flag(), flag()
    order = [(place + turn) % ndim for place in range(ndim)]
    order = order[::-1] if mirrored else order
    return args(tensor(*sizes(ndim)), tuple(place - ndim * from_end for place in order))


def moved():
    """Draws a tensor, one or two of its dimensions, and where they go."""
    ndim, several = rank(4, 2, 3, 5), not flag()
    one, to = axis(ndim), axis(ndim)
    drawn = sizes(ndim, one)
    pairs = (one, (one + 1) % ndim), (to, (to + 1) % ndim)
    return args(tensor(*drawn), *(pairs if several else (one, to)))


def squeezed():
    """Draws a tensor with sizes of 1, and one or some of its dimensions, of size 1 or not."""
    first, third, dim = pick(1, 3), size(1, 4).value(), pick(1, 0, -2, 2, -1, (0, 1), (1, -1))
    return args(tensor(first, 1, third), dim)


def unsqueezed():
    """Draws a tensor, and where the new dimension comes."""
    ndim = rank(2, 0, 1, 3, 4)
    return args(tensor(*sizes(ndim)), axis(ndim + 1))


def flattened():
    """Draws a tensor, and from where to where it is made flat."""
    ndim, first, last, from_end = rank(4, 1, 2, 3, 5), pick(1, 0, 2, 3), pick(0, 1, 2, 4), flag()
    start = min(first, ndim - 1)
    end = min(start + last, ndim - 1)
    return args(tensor(*sizes(ndim)), start_dim=start - ndim * from_end, end_dim=end - ndim * from_end)


def expanded():
    """Draws a tensor with dimensions of 1, and the sizes to expand it to, perhaps with more in front."""
    ahead, count, kept = pick((), (2,), (3, 1), (0,)), pick(3, 1, 4), pick(-1, None)
    columns = size().value()
    return args(tensor(1, columns), *ahead, count, columns if kept is None or ahead else kept)


def broadcast():
    """Draws a tensor with a dimension of 1, and a shape to broadcast it to."""
    columns = size()
    return args(tensor(1, columns), (*pick((), (2,), (3, 1), (0,)), whole(1, 5), columns.value()))


def expanded_as():
    """Draws a tensor with a dimension of 1, and another to expand it as."""
    columns = size()
    return args(tensor(1, columns), tensor(size(), columns))


def repeated():
    """Draws a tensor, and how often each of its dimensions is repeated, none or new ones included."""
    ndim, times = rank(2, 0, 1, 3), pick((2, 1, 3), (1, 1, 1), (0, 2, 1), (2, 3, 1, 1), (1, 2, 2))
    return args(tensor(*sizes(ndim)), times)


def interleaved():
    """Draws a tensor, how often to repeat each slice of it, and along which dimension."""
    ndim, times = rank(2, 1, 3, 5), whole(0, 4)
    dim = axis(ndim)
    return args(tensor(*sizes(ndim, dim)), times, dim=dim)


def interleaved_each():
    """Draws a tensor, how often to repeat each slice of it, and along which dimension."""
    ndim = pick(2, 1, 3)
    drawn, dim = [size() for _ in range(ndim)], whole(0, ndim)
    return args(tensor(*drawn), tensor(drawn[dim], low=0, high=4, dtype=int), dim=dim)


def flipped():
    """Draws a tensor, and some of its dimensions."""
    ndim = rank()
    dims = axes(ndim)
    return args(tensor(*sizes(ndim, leading(dims))), (dims,) if isinstance(dims, int) else dims)


def rolled():
    """Draws a tensor, how far to roll it, and along which dimension."""
    ndim, far = rank(3, 1, 2, 5), whole(-4, 4)
    dim = axis(ndim)
    return args(tensor(*sizes(ndim, dim)), far, dim)


def rolled_twice():
    """Draws a tensor, and two dimensions to roll it along, perhaps one twice."""
    ndim, far, other = rank(3, 1, 2, 5), pick(1, 0, -2, 7), pick(-1, 0, 3)
    one, two = axis(ndim), axis(ndim)
    return args(tensor(*sizes(ndim, one)), (far, other), (one, two))


def along_a_diagonal():
    """Draws a tensor, which of its diagonals, and of which two dimensions."""
    ndim, offset, dims = rank(3, 2, 4, 5), whole(-3, 4), pick((0, 1), (1, 0), (-1, -2), (-2, 0), (0, -1))
    chosen = dims if ndim > 2 or dims != (-2, 0) else (-2, 1)
    return args(tensor(*sizes(ndim)), offset=offset, dim1=chosen[0], dim2=chosen[1])


def cornered():
    """Draws matrices, and from which diagonal on they are kept: beyond either corner, too."""
    return args(tensor(*sizes(rank(3, 2, 4, 5))), diagonal=whole(-4, 4))


def narrowed():
    """Draws a tensor of four elements along one of its dimensions, and which of them to keep: none to all."""
    ndim, start, length = rank(2, 1, 3, 5), pick(1, 0, 2, -2, 4), pick(1, 0, 2, 4)
    dim = axis(ndim)
    drawn = [*sizes(ndim, dim - 1)]
    drawn[dim] = 4
    return args(tensor(*drawn), dim, start, min(length, 4 - start if start >= 0 else -start))


def strided():
    """Draws a tensor, and a shape, strides and an offset within it: overlapping ones and strides of 0 among them."""
    strides, offset = pick((4, 1), (1, 4), (1, 1), (0, 2), (5, 0)), whole(0, 4)
    return args(tensor(5, 5), pick((2, 3), (1, 2), (3, 2), (0, 2)), strides, offset)


def unfolded():
    """Draws a tensor of five elements along one of its dimensions, and windows along it."""
    ndim, width, step = rank(2, 1, 3, 4), whole(1, 6), whole(1, 4)
    dim = axis(ndim)
    drawn = [*sizes(ndim, dim - 1)]
    drawn[dim] = 5
    return args(tensor(*drawn), dim, width, step)


ROWS = (
    Op("reshape", new_shape, keywords="input shape", errors={"any_times_0": lambda: args(tensor(2, 3), (-1, 0))}),
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
    Op("permute", permuted, errors={"twice": lambda: args(tensor(2, 3), (0, 0))}),
    Op("t", values(-1, 1, ndim=2), errors={"rank": lambda: args(tensor(2, 3, 2))}),
    Op("t", values(-1, 1, ndim=1), "torch", variant="1d"),
    Op("movedim", moved, "torch"),
    Op("squeeze", squeezed),
    Op("squeeze", lambda: args(tensor(size(2), 1, size(2), 1)), variant="all"),
    Op("unsqueeze", unsqueezed),
    Op("flatten", flattened, errors={"backwards": lambda: args(tensor(2, 3), 1, 0)}),
    Op("flatten", values(-1, 1, ndim=0), "torch", variant="0d"),
    Op(
        "expand",
        expanded,
        "Tensor",
        errors={
            "leading": lambda: args(tensor(2), -1, 2),
            "multiple": lambda: args(tensor(2, 3), 4, 3),
            "fewer": lambda: args(tensor(2, 3), 3),
        },
    ),
    Op("expand_as", expanded_as, "Tensor", errors={"multiple": lambda: args(tensor(2, 3), tensor(2, 6))}),
    Op("broadcast_to", broadcast, errors={"multiple": lambda: args(tensor(2, 3), (4, 3))}),
    Op("broadcast_tensors", lambda: args(*expanded_as().args), "torch"),
    Op("tile", repeated, errors={"below_0": lambda: args(tensor(2, 3), (2, -1))}),
    Op("tile", lambda: args(tensor(*shape(3, high=4)), (whole(1, 4),)), variant="fewer"),
    Op(
        "repeat",
        lambda: args(repeated().args[0], *pick((2, 1, 3), (1, 1, 1), (0, 2, 1), (2, 3, 1, 1))),
        "Tensor",
        errors={"below_0": lambda: args(tensor(2, 3), 2, -1), "fewer": lambda: args(tensor(2, 3), 2)},
    ),
    Op("repeat_interleave", interleaved),
    Op("repeat_interleave", interleaved_each, variant="each", graph=False),
    Op("repeat_interleave", lambda: args(tensor(*sizes(rank())), whole(0, 4)), variant="flat"),
    Op(
        "flip",
        flipped,
        keywords="input dims",
        errors={"twice": lambda: args(tensor(2, 3), (1, 1)), "no_such": lambda: args(tensor(2, 3), (0, 2))},
    ),
    Op("roll", rolled, errors={"no_such": lambda: args(tensor(2, 3), 1, 7)}),
    Op("roll", rolled_twice, variant="two"),
    Op("roll", lambda: args(tensor(*sizes(rank())), whole(-4, 4)), variant="flat"),
    Op("diagonal", along_a_diagonal, "torch Tensor", errors={"one_dim": lambda: args(tensor(2, 3), 0, 1, 1)}),
    Op("diagonal", along_a_diagonal, "linalg", variant="linalg"),
    Op(
        "diag",
        lambda: args(tensor(size(2), size(2)), whole(-4, 4)),
        errors={"rank": lambda: args(tensor(2, 2, 2)), "number": lambda: args(tensor())},
    ),
    Op("diag", lambda: args(tensor(size()), whole(-4, 4)), variant="1d"),
    *ops("tril triu", cornered, keywords="", errors={"vector": lambda: args(tensor(3))}),
    Op("triu", values(-1, 1, ndim=2), "Tensor_", variant="in_place"),
    Op(
        "narrow",
        narrowed,
        keywords="input dim start length",
        errors={"beyond": lambda: args(tensor(4, 2), 0, 2, 3)},
    ),
    *ops("contiguous clone", lambda: args(tensor(*shape(3)).transpose(0, 2)), "Tensor"),
    Op("as_strided", strided),
    Op("unfold", unfolded, "Tensor", errors={"no_such": lambda: args(tensor(4, 5), 2, 3, 1)}),
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
