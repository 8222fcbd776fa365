"""Pooling over windows and to given sizes, and its inverse."""

from __future__ import annotations

from rows import Layer, Op, args, main_forms, size, tensor, whole

from autotest import autotest, oneof, random, random_bool, torch


def image(ndim, side=4):
    """Draws a batch of images."""
    return tensor(size(1, 3), size(1, 3), *([side] * ndim))


def window(ndim, **named):
    """Draws an image and a window."""
    return lambda: args(image(ndim), whole(2, 4), **named)


def to_size(ndim):
    """Draws an image and the size to pool it to."""
    return lambda: args(image(ndim), tuple(whole(1, 4) for _ in range(ndim)))


def layer(ndim, **fixed):
    """Draws a pooling layer and an image."""

    def draw():
        options = {"stride": random(1, 3).to(int), "padding": random(0, 2).to(int), **fixed}
        return args(random(2, 4).to(int), **options), args(image(ndim))

    return draw


def adaptive_layer(ndim):
    """Draws an adaptive layer and an image."""
    return lambda: (args(tuple(whole(1, 4) for _ in range(ndim))), args(image(ndim)))


def unpooled(ndim):
    """Draws an image pooled with its indices, to be put back."""

    def draw():
        pool = getattr(torch.nn.functional, f"max_pool{ndim}d")
        values, indices = pool(image(ndim), 2, return_indices=True)
        return args(values, indices, 2)

    return draw


def unpool_layer(ndim):
    """Draws the layer for `unpooled`."""

    def draw():
        values, indices, kernel = unpooled(ndim)().args
        return args(kernel), args(values, indices)

    return draw


ROWS = (
    *(Op(f"{kind}_pool{n}d", window(n), "F") for kind in ("max", "avg") for n in (1, 2, 3)),
    *(Op(f"max_pool{n}d", window(n, stride=1, padding=1), "F", variant="padding") for n in (1, 2)),
    *(
        Op(f"avg_pool{n}d", window(n, stride=1, padding=1, count_include_pad=False), "F", variant="padding")
        for n in (1, 2, 3)
    ),
    Op("max_pool2d", window(2, ceil_mode=True), "F", variant="ceil"),
    Op("avg_pool2d", window(2, ceil_mode=True), "F", variant="ceil"),
    Op("max_pool2d", window(2, return_indices=True), "F", variant="indices"),
    *(Op(f"adaptive_{kind}_pool{n}d", to_size(n), "F") for kind in ("max", "avg") for n in (1, 2, 3)),
    *(Op(f"max_unpool{n}d", unpooled(n), "F") for n in (1, 2, 3)),
    *(Layer(f"{kind}Pool{n}d", layer(n)) for kind in ("Max", "Avg") for n in (1, 2, 3)),
    *(Layer(f"Adaptive{kind}Pool{n}d", adaptive_layer(n)) for kind in ("Max", "Avg") for n in (1, 2, 3)),
    *(Layer(f"MaxUnpool{n}d", unpool_layer(n)) for n in (1, 2, 3)),
    Layer("MaxPool2d", layer(2, stride=(1, 2), padding=(1, 0)), variant="tuples"),
    Layer("MaxPool2d", layer(2, stride=(2,), padding=(1,)), variant="tuples_of_one"),
    Layer("MaxPool2d", layer(2, return_indices=True), variant="indices"),
    Layer("MaxPool2d", layer(2, ceil_mode=random_bool(), dilation=oneof(1, 2).to(int), padding=1), variant="ceil"),
    Layer("AvgPool2d", layer(2, divisor_override=3, padding=0), variant="divisor"),
)


@main_forms(ROWS)
@autotest(n=10, coverage="pairs")
def test_op(call):
    return call()


@autotest(n=10)
def test_pool_and_flatten():
    m = torch.nn.Sequential(torch.nn.AvgPool2d(2), torch.nn.Flatten(), torch.nn.Linear(8, 2))
    return m(tensor(size(), 2, 4, 4))
