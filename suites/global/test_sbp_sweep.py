"""Ops on global tensors give what they give on local ones, however their arguments are spread over the ranks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rows import Layer, Op, args, member, ops, tensor

from autotest import DualObject, autotest, globaltest, placement, random, random_sbp, sbp, torch

RANKS = placement.all("cpu").ranks.size


def size():
    """No dimension may be smaller than the ranks: OneFlow ends them all where such a one is split."""
    return random(RANKS, RANKS + 4).to(int)


def single(low=-1, high=1, ndim=2, dtype=float):
    """Draws a tensor."""
    return lambda: args(tensor(*(size() for _ in range(ndim)), low=low, high=high, dtype=dtype))


def two(low=-1, high=1):
    """Draws two tensors of one shape."""

    def draw():
        sizes = size(), size()
        return args(tensor(*sizes, low=low, high=high), tensor(*sizes, low=low, high=high))

    return draw


def broadcast_pair():
    """Draws a matrix and a vector that broadcasts to it."""
    columns = size()
    return args(tensor(size(), columns), tensor(columns))


def matrices():
    """Draws two matrices that fit."""
    k = size()
    return args(tensor(size(), k), tensor(k, size()))


def batches():
    """Draws two batches of matrices that fit."""
    batch, k = size(), size()
    return args(tensor(batch, size(), k), tensor(batch, k, size()))


def chosen():
    """Draws a condition and two tensors of its shape."""
    sizes = size(), size()
    return args(tensor(*sizes) > 0, tensor(*sizes), tensor(*sizes))


def indexed():
    """Draws a tensor, a dimension and indices along it."""
    sizes = size(), size()
    return args(tensor(*sizes), 0, tensor(*sizes, low=0, high=RANKS, dtype=int))


def listed():
    """Draws a list of two tensors that can be joined."""
    columns = size()
    return args([tensor(size(), columns), tensor(size(), columns)])


def with_arguments(draw, *more, **named):
    """Draws what `draw` draws, and adds arguments."""
    return lambda: args(*draw().args, *more, **named)


def linear():
    """Draws a linear layer and its input."""
    return args(3 * RANKS, 2 * RANKS), args(tensor(size(), 3 * RANKS))


def channels(ndim, features=None):
    """Draws a layer over channels and its input."""

    def draw():
        sizes = [random(2 * RANKS, 2 * RANKS + 3).to(int) for _ in range(ndim - 2)]
        x = tensor(size(), 2 * RANKS, *sizes)
        return args(2 * RANKS, *([features, 2] if features else [])), args(x)

    return draw


def normalized():
    """Draws a layer norm and its input."""
    return args(2 * RANKS), args(tensor(size(), size(), 2 * RANKS))


ROWS = (
    *ops("relu exp tanh sigmoid sin square abs", single()),
    *ops("log sqrt rsqrt", single(0.5, 4)),
    *ops("add sub mul maximum", two()),
    *ops("div pow", two(0.5, 2)),
    Op("add", broadcast_pair, variant="broadcast"),
    Op("matmul", matrices),
    Op("bmm", batches),
    Op("where", chosen),
    Op("gather", indexed),
    Op("cat", listed),
    Op("sum", single()),
    Op("sum", with_arguments(single(), 0), variant="rows"),
    Op("mean", with_arguments(single(), 1), variant="columns"),
    Op("amax", with_arguments(single(), 1)),
    Op("cumsum", with_arguments(single(), 0)),
    Op("softmax", with_arguments(single(), 1)),
    Op("transpose", with_arguments(single(), 0, 1)),
    Op("permute", with_arguments(single(ndim=3), (2, 0, 1))),
    Op("flatten", single(ndim=3)),
    Op("unsqueeze", with_arguments(single(), 1)),
    Op("flip", with_arguments(single(), (0,))),
    Op("add", lambda: args(tensor(size(), size(), dtype=int, low=-8, high=8), 3), variant="integers"),
    Layer("Linear", linear),
    Layer("Conv2d", channels(4, features=3)),
    Layer("BatchNorm1d", channels(3), mode="eval"),
    Layer("LayerNorm", normalized),
)
LAYOUTS = {
    "S0": lambda ndim: sbp.split(0) if ndim > 0 else sbp.broadcast,
    "S1": lambda ndim: sbp.split(1) if ndim > 1 else sbp.broadcast,
    "P": lambda ndim: sbp.partial_sum,
    "mixed": lambda ndim: random_sbp(max_dim=ndim, except_partial_sum=True).value(),
}


def spread(value, layout):
    """The tensors in an argument, spread so."""
    if isinstance(value, list):
        return [spread(item, layout) for item in value]
    if not isinstance(value, DualObject):
        return value
    if layout == "P" and not value.reference.is_floating_point():  # an index or a condition is no sum
        return value
    chosen = LAYOUTS[layout](value.reference.ndim)
    return value if chosen in (sbp.broadcast, (sbp.broadcast,)) else value.to_global(sbp=chosen)


def spread_args(drawn, layout):
    """The arguments of a call, spread so."""
    return replace(drawn, args=tuple(spread(value, layout) for value in drawn.args))


def call(row, layout):
    """Draws the arguments, spreads them and calls the row's main form."""
    if isinstance(row, Layer):
        built, called = row.draw()
        module = member(f"torch.nn.{row.name}")(*built.args, **built.kwargs)
        if row.mode == "eval":
            module = module.eval()
        return module(*spread_args(called, layout).args)
    drawn = spread_args(row.draw(), layout)
    return member(f"torch.{row.name}")(*drawn.args, **drawn.kwargs)


def named(row):
    return f"{row.name}-{row.variant}" if row.variant else row.name


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("row", [pytest.param(row, id=named(row)) for row in ROWS])
@globaltest
@autotest(n=1, coverage="none")
def test_op(row, layout):
    return call(row, layout)


def made(kind, *rest, **more):
    return getattr(torch, kind)(*rest, placement=placement.all("cpu"), sbp=sbp.broadcast, **more)


@pytest.mark.parametrize("kind", ["zeros", "ones"])
@globaltest
@autotest(n=2, auto_backward=False, coverage="none")
def test_filled(kind):
    return made(kind, 2 * RANKS, 3).to_global(sbp=sbp.split(0)) + 1


@globaltest
@autotest(n=2, auto_backward=False, coverage="none")
def test_arange():
    return made("arange", 3 * RANKS).to_global(sbp=sbp.split(0)) * 2
