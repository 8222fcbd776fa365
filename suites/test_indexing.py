"""Reading and writing through indices, masks and index tensors."""

from __future__ import annotations

import pytest
from forms import member
from refusals import refused
from rows import (
    Op,
    args,
    axis,
    eager_forms,
    main_forms,
    ops,
    other_forms,
    pick,
    rank,
    real,
    shape,
    size,
    sizes,
    tensor,
    whole,
    wrong_calls,
)

from autotest import autotest, each, torch

_INDICES = {
    "x[1]": 1,
    "x[-1]": -1,
    "x[1:3]": slice(1, 3),
    "x[::2]": slice(None, None, 2),
    "x[...,0]": (Ellipsis, 0),
    "x[:,1]": (slice(None), 1),
    "x[1,:,1:]": (1, slice(None), slice(1, None)),
    "x[:,None]": (slice(None), None),
    "x[[0,2]]": [0, 2],
    "x[[0,2],[1,0]]": ([0, 2], [1, 0]),
    "x[1:,[0,1]]": (slice(1, None), [0, 1]),
    "x[True]": True,
    "x[[-1,0,-1]]": [-1, 0, -1],
    "x[:,[[0,-1],[1,1]]]": (slice(None), [[0, -1], [1, 1]]),
    "x[...,None,-2:]": (Ellipsis, None, slice(-2, None)),
}


def index(*sizes, high):
    """An index tensor."""
    return tensor(*sizes, low=0, high=high, dtype=int)


def chosen_from(count=4):
    """Draws the sizes of a tensor that has `count` elements along one of its dimensions, and which dimension."""
    ndim = rank(3, 1, 2, 4, 5)
    dim = axis(ndim)
    drawn = [*sizes(ndim, dim - 1)]
    drawn[dim] = count
    return drawn, dim


def with_size(drawn, dim, count):
    """These sizes, but for that of `dim`."""
    changed = [*drawn]
    changed[dim] = count
    return changed


def selected():
    """Draws a tensor, a dimension and indices into it."""
    drawn, dim = chosen_from()
    dtype = pick("int64", "int32")
    return args(tensor(*drawn), dim, tensor(size(), low=0, high=4, dtype=dtype))


def gathered():
    """Draws a tensor, a dimension and an index per element of the result."""
    drawn, dim = chosen_from()
    return args(tensor(*drawn), dim, index(*with_size(drawn, dim, size(1, 4).value()), high=4))


def scattered():
    """Draws a tensor and what to write into it; each index of a row once, for `scatter` leaves open who wins."""
    drawn, dim = chosen_from()
    places = torch.arange(3).reshape(*with_size([1] * len(drawn), dim, 3))
    first = index(*with_size(drawn, dim, 1), high=4)
    return args(tensor(*drawn), dim, (first + places) % 4, tensor(*with_size(drawn, dim, 3)))


def scattered_number():
    """Draws a tensor and a number to write into it."""
    drawn, dim = chosen_from()
    number = pick(1.5, 0, -2)
    return args(tensor(*drawn), dim, index(*with_size(drawn, dim, 2), high=4), number)


def scattered_again():
    """Draws a tensor, and what to add to it or to multiply it by, at indices of which some are equal."""
    drawn, dim = chosen_from()
    how = pick("add", "multiply")
    places = index(*with_size(drawn, dim, 3), high=4)
    written = (tensor(*each, requires_grad=False) for each in (drawn, with_size(drawn, dim, 3)))
    return args(next(written), dim, places, next(written), reduce=how)


def summed():
    """Draws a tensor, and what to add to it, at indices of which some are equal."""
    drawn, dim = chosen_from()
    count = size(1, 6).value()
    places = index(*with_size(drawn, dim, count), high=4)
    return args(tensor(*drawn), dim, places, tensor(*with_size(drawn, dim, count)))


def added(requires_grad=None, **named):
    """Draws a tensor, and slices to add to some of its slices."""

    def draw():
        drawn, dim = chosen_from()
        count = size(1, 6).value()
        slices = tensor(*with_size(drawn, dim, count), requires_grad=requires_grad)
        return args(tensor(*drawn, requires_grad=requires_grad), dim, index(count, high=4), slices, **named)

    return draw


def masked(*more):
    """Draws a tensor and a mask of its shape, or of one that broadcasts to it."""

    def draw():
        ndim, narrow = rank(), pick(0, 1, 2)
        drawn = sizes(ndim)
        mask = drawn if not narrow else drawn[1:] if narrow == 1 else (*drawn[:-1], 1)[:ndim]
        return args(tensor(*drawn), tensor(*mask, low=0, high=2, dtype=bool), *(part() for part in more))

    return draw


def chosen():
    """Draws a condition and two tensors."""
    rows, columns = shape(2)
    return args(tensor(rows, columns, low=0, high=2, dtype=bool), tensor(rows, columns), tensor(rows, 1))


def broadcast_choice():
    """Draws a condition and two tensors, of which one or another broadcasts."""
    ndim, narrow = rank(3, 0, 1, 2, 5), pick(0, 1, 2)
    drawn = sizes(ndim)
    parts = [drawn, drawn, drawn]
    parts[narrow] = drawn[1:]
    parts[narrow - 1] = (*drawn[:-1], 1)[:ndim]
    return args(tensor(*parts[0], low=0, high=2, dtype=bool), tensor(*parts[1]), tensor(*parts[2]))


def one_of_a_dimension():
    """Draws a tensor, a dimension, and which of its four elements to take, counted from either end."""
    drawn, dim = chosen_from()
    return args(tensor(*drawn), dim, whole(-4, 4))


ROWS = (
    Op(
        "index_select",
        selected,
        keywords="input dim index",
        errors={
            "out_of_range": lambda: args(tensor(2, 3), 1, index(2, high=1) + 3),
            "negative": lambda: args(tensor(2, 3), 1, index(2, high=1) - 1),
            "dim": lambda: args(tensor(2, 3), 2, index(2, high=2)),
            "real": lambda: args(tensor(2, 3), 1, tensor(2)),
        },
    ),
    Op(
        "gather",
        gathered,
        keywords="input dim index",
        errors={
            "out_of_range": lambda: args(tensor(2, 3), 1, index(2, 2, high=1) + 3),
            "negative": lambda: args(tensor(2, 3), 1, index(2, 2, high=1) - 1),
            "sizes": lambda: args(tensor(2, 3), 1, index(3, 2, high=2)),
        },
    ),
    Op("scatter", scattered, "torch Tensor Tensor_"),
    Op("scatter", scattered_number, "torch Tensor Tensor_", variant="number"),
    Op("scatter", scattered_again, "torch Tensor", variant="reduce"),
    Op(
        "scatter_add",
        summed,
        "torch Tensor Tensor_",
        errors={
            "out_of_range": lambda: args(tensor(2, 3), 1, index(2, 2, high=1) + 3, tensor(2, 2)),
            "sizes": lambda: args(tensor(2, 3), 1, index(2, 2, high=2), tensor(2, 1)),
        },
    ),
    Op("index_add", added(), "torch Tensor Tensor_"),
    Op("index_add", lambda: added(alpha=pick(0.5, 0, -2))(), "torch", variant="alpha"),
    Op("index_add", lambda: added(False, alpha=pick(0.5, -2))(), "torch", variant="alpha_alone"),
    Op("masked_fill", masked(lambda: pick(2.5, 0, float("-inf"), True)), "torch Tensor Tensor_"),
    Op("where", broadcast_choice, "torch", keywords="condition input other"),
    Op("where", lambda: args(tensor(*shape(2)) > 0, real(-1, 0), real(0, 1)), "torch", variant="numbers"),
    Op("where", lambda: args(chosen().args[0], tensor(1), 0.5), "torch", variant="number"),
    Op("select", one_of_a_dimension, "torch"),
    *ops("masked_select", masked(), graph=False),
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


@pytest.mark.parametrize("index", [pytest.param(index, id=spelled) for spelled, index in _INDICES.items()])
@autotest(n=10)
def test_getitem(index):
    return tensor(size(3), size(3), size(3))[index]


@pytest.mark.parametrize("accumulate", [False, True], ids=["put", "accumulate"])
@autotest(n=5, check_graph=False, coverage="none", missing="count")
def test_index_put_of_few_values(accumulate):
    x, values = tensor(4, 3), tensor(*each((3, 3), (3,), (1, 3), (1,), ()).value())
    rows = torch.tensor([0, 2, 0] if accumulate else [0, 2, 3])
    return x.index_put((rows,), values, accumulate=accumulate)


@autotest(n=10)
def test_getitem_drawn_index():
    return tensor(4, 4)[whole(-4, 4), whole(-5, 3) : whole(-2, 6) : whole(1, 4)]


@autotest(n=2, auto_backward=False, check_graph=False, coverage="none")
def test_getitem_without_a_step():
    """A slice that goes nowhere is refused."""
    x = tensor(4)
    refused(lambda: x[::0])


@autotest(n=10)
def test_getitem_index_tensor():
    return tensor(4, size())[tensor(size(), low=-4, high=4, dtype=int)]


@autotest(n=10, check_graph=False)
def test_getitem_mask():
    x = tensor(*shape(2))
    return x[x > 0]


@autotest(n=10)
def test_setitem_whole():
    sizes = shape(2)
    x, y = (tensor(*sizes, requires_grad=False) for _ in range(2))
    x[:] = y
    return x * 2


@autotest(n=10)
def test_setitem_slice():
    columns = size()
    x, y = tensor(4, columns, requires_grad=False), tensor(2, columns, requires_grad=False)
    x[1:3] = y
    return x


@autotest(n=10)
def test_setitem_number():
    x = tensor(size(2), size(2), requires_grad=False)
    x[:, whole(0, 2)] = 3.0
    return x


@autotest(n=10)
def test_setitem_differentiated():
    columns = size()
    x, y = tensor(4, columns) * 2, tensor(2, columns)
    x[1:3] = y
    return x


@autotest(n=10)
def test_setitem_index_tensor():
    x = tensor(4, size(), requires_grad=False)
    x[index(size(), high=4)] = 2.0
    return x


@autotest(n=10, check_graph=False)
def test_setitem_mask():
    x = tensor(*shape(2), requires_grad=False)
    x[x > 0] = 0.0
    return x


@pytest.mark.parametrize("name", ["gather", "take_along_dim"])
@autotest(n=2, missing="count")
def test_places_that_are_expanded(name):
    """An element that is read several times has the sum of the gradients."""
    places = torch.tensor([[2], [0], [2]]).expand(3, 5)
    return member(f"torch.{name}")(tensor(3, 4), *((1, places) if name == "gather" else (places, 1)))
