"""Reading and writing through indices, masks and index tensors."""

from __future__ import annotations

import pytest
from rows import Op, args, eager_forms, main_forms, ops, other_forms, real, shape, size, tensor, whole, wrong_calls

from autotest import autotest, torch

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
}


def index(*sizes, high):
    """An index tensor."""
    return tensor(*sizes, low=0, high=high, dtype=int)


def selected():
    """Draws a tensor, a dimension and indices into it."""
    return args(tensor(size(), 4, size()), 1, index(size(), high=4))


def gathered():
    """Draws a tensor, a dimension and an index per element of the result."""
    rows = size()
    return args(tensor(rows, 4), 1, index(rows, size(), high=4))


def scattered():
    """Draws a tensor and what to write into it; each index of a row once, for `scatter` leaves open who wins."""
    rows = size()
    return args(tensor(rows, 4), 1, (index(rows, 1, high=4) + torch.arange(3)) % 4, tensor(rows, 3))


def scattered_number():
    """Draws a tensor and a number to write into it."""
    rows = size()
    return args(tensor(rows, 4), 1, index(rows, 2, high=4), 1.5)


def added(**named):
    """Draws a tensor, and rows to add to some of its rows."""

    def draw():
        columns, count = shape(2)
        return args(tensor(4, columns), 0, index(count, high=4), tensor(count, columns), **named)

    return draw


def masked(*more):
    """Draws a tensor and a mask of its shape."""

    def draw():
        rows, columns = shape(2)
        return args(tensor(rows, columns), tensor(rows, columns, low=0, high=2, dtype=bool), *more)

    return draw


def chosen():
    """Draws a condition and two tensors."""
    rows, columns = shape(2)
    return args(tensor(rows, columns, low=0, high=2, dtype=bool), tensor(rows, columns), tensor(rows, 1))


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
    Op("gather", gathered, keywords="input dim index"),
    Op("scatter", scattered, "torch Tensor Tensor_"),
    Op("scatter", scattered_number, "torch Tensor Tensor_", variant="number"),
    Op("scatter_add", scattered, "torch Tensor Tensor_"),
    Op("index_add", added(), "torch Tensor Tensor_"),
    Op("index_add", added(alpha=0.5), "torch", variant="alpha"),
    Op("masked_fill", masked(2.5), "torch Tensor Tensor_"),
    Op("where", chosen, "torch", keywords="condition input other"),
    Op("where", lambda: args(tensor(*shape(2)) > 0, real(-1, 0), real(0, 1)), "torch", variant="numbers"),
    Op("where", lambda: args(chosen().args[0], tensor(1), 0.5), "torch", variant="number"),
    Op("select", lambda: args(tensor(2, 4, size()), 1, whole(-4, 4)), "torch"),
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


@autotest(n=10)
def test_getitem_drawn_index():
    return tensor(4, 4)[whole(0, 4), whole(0, 2) :]


@autotest(n=10)
def test_getitem_index_tensor():
    return tensor(4, size())[index(size(), high=4)]


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
