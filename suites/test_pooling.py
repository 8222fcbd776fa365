"""Pooling over windows and to given sizes, and its inverse."""

from __future__ import annotations

from rows import Layer, Op, args, each, flag, main_forms, per_dimension, pick, seldom, size, tensor, wrong_calls

from autotest import autotest, nothing, oneof, torch


def image(ndim, batched=True):
    """Draws images, the first of their sides perhaps long; `batched=False` leaves the batch out, which ends OneFlow's
    process in most pools.
    """
    batch, channels, side = (size(1, 3).value(), size(1, 3).value(), size(7, 10).value())
    return tensor(*((batch, channels) if batched else (channels,)), *(side, 8, 7)[:ndim])


def window(ndim, *, dilated=False):
    """Draws a window, its stride and dilation, and padding of at most half of it."""
    kernel = per_dimension(ndim, pick(2, 3, 1, (2, 3), (3, 1)))
    step = each(ndim, nothing(), 1, 2, 3, (1, 2), (2, 1))
    padded = per_dimension(ndim, pick(0, 1, (1, 0), (0, 1)))
    padding = tuple(part * (side // 2) for part, side in zip(padded, kernel, strict=True))
    more = {"dilation": each(ndim, 1, 2, 3, (1, 2))} if dilated else {}
    one = flag() and len({*kernel}) == 1 and len({*padding}) == 1
    return args(kernel[0] if one else kernel, stride=step, padding=padding[0] if one else padding, **more)


def greatest(ndim):
    """Draws a window of which the greatest value is taken."""
    drawn, indices, up = window(ndim, dilated=True), flag(), flag()
    return args(*drawn.args, **drawn.kwargs, ceil_mode=up, return_indices=indices)


def average(ndim):
    """Draws a window over which the mean is taken, and by what it is divided."""
    drawn, padded, up = window(ndim), not flag(), flag()
    divisor = {"divisor_override": oneof(nothing(), 1, 3)} if ndim > 1 else {}
    return args(*drawn.args, **drawn.kwargs, ceil_mode=up, count_include_pad=padded, **divisor)


def adaptive(ndim, indices=False):
    """Draws the size to pool to: less or more than that of the image, of some sides none."""
    sizes = [3, 1, 5, 9, (2, 3), (3, 1)] + ([(None, 2)] if ndim > 1 else [])
    more = {"return_indices": flag()} if indices else {}
    return args(each(ndim, *sizes), **more)


def called(build, ndim):
    """Draws an image and the arguments of `build`, for a function."""

    def draw():
        drawn = build(ndim)
        return args(image(ndim, batched=not seldom()), *drawn.args, **drawn.kwargs)

    return draw


def layer(build, ndim):
    """Draws the arguments of `build` for a layer, and an image."""
    return lambda: (build(ndim), args(image(ndim, batched=not seldom())))


def of_indices(ndim):
    """As `adaptive`, with indices or without."""
    return adaptive(ndim, indices=True)


def unpooled(ndim):
    """Draws an image pooled with its indices by windows that do not overlap, to be put back."""

    def draw():
        pool = getattr(torch.nn.functional, f"max_pool{ndim}d")
        kernel = per_dimension(ndim, pick(2, 3, 1, (2, 3)))
        stride = pick(None, 3, (3, 4))
        stride = stride if stride is None else per_dimension(ndim, stride)
        padding = pick(0, 1)
        padding = tuple(padding * (side // 2) for side in kernel)
        x, sized = image(ndim), not seldom()
        values, indices = pool(x, kernel, stride, padding, return_indices=True)
        more = {"output_size": tuple(x.shape)} if sized else {}
        return args(values, indices, kernel, stride, padding), more

    return draw


def unpool_function(ndim):
    """Draws what `max_unpool` takes."""

    def draw():
        drawn, more = unpooled(ndim)()
        return args(*drawn.args, **more)

    return draw


def beyond_its_channel(ndim):
    """Draws indices of which those of the first channel lie in the second one of what is unpooled."""
    shape = (1, 2, *[2] * ndim)
    return lambda: args(tensor(*shape), torch.arange(2 ** (ndim + 1) - 1, -1, -1).reshape(shape), 1)


def unpool_layer(ndim):
    """Draws the layer for `unpooled`."""

    def draw():
        drawn, more = unpooled(ndim)()
        values, indices, *window = drawn.args
        return args(*window), args(values, indices, **more)

    return draw


def too_wide(ndim):
    """Draws an image that is padded by more than half of a window."""
    return lambda: args(image(ndim), 3, padding=2)


def below_0(ndim):
    """Draws an image that is to have a size below 0."""
    return lambda: args(image(ndim), (*[2] * (ndim - 1), -1))


def beyond_the_end(ndim):
    """Draws an image whose last windows reach beyond its padding, whichever elements count."""
    return lambda: args(
        tensor(size(), 2, *[6] * ndim), 3, stride=2, padding=1, ceil_mode=True, count_include_pad=flag()
    )


ROWS = (
    *(Op(f"max_pool{n}d", called(greatest, n), "F", errors={"padding": too_wide(n)}) for n in (1, 2, 3)),
    *(Op(f"avg_pool{n}d", called(average, n), "F", errors={"padding": too_wide(n)}) for n in (1, 2, 3)),
    *(Op(f"avg_pool{n}d", beyond_the_end(n), "F", variant="end") for n in (1, 2, 3)),
    *(Op(f"adaptive_max_pool{n}d", called(of_indices, n), "F", errors={"below_0": below_0(n)}) for n in (1, 2, 3)),
    *(Op(f"adaptive_avg_pool{n}d", called(adaptive, n), "F", errors={"below_0": below_0(n)}) for n in (1, 2, 3)),
    *(Op(f"max_unpool{n}d", unpool_function(n), "F", errors={"index": beyond_its_channel(n)}) for n in (1, 2, 3)),
    *(Layer(f"MaxPool{n}d", layer(greatest, n)) for n in (1, 2, 3)),
    *(Layer(f"AvgPool{n}d", layer(average, n)) for n in (1, 2, 3)),
    *(Layer(f"AdaptiveMaxPool{n}d", layer(of_indices, n)) for n in (1, 2, 3)),
    *(Layer(f"AdaptiveAvgPool{n}d", layer(adaptive, n)) for n in (1, 2, 3)),
    *(Layer(f"MaxUnpool{n}d", unpool_layer(n)) for n in (1, 2, 3)),
    *(Op(f"{kind}_pool2d", lambda: args(image(2), 2), "F", variant="default") for kind in ("max", "avg")),
    Layer(
        "MaxPool2d",
        lambda: (args((2,), stride=(2,), padding=oneof((0,), (1,))), args(image(2))),
        variant="tuples_of_one",
    ),
)


@main_forms(ROWS)
@autotest(n=10, coverage="pairs")
def test_op(call):
    return call()


@wrong_calls(ROWS)
@autotest(n=2, auto_backward=False, check_graph=False, coverage="none")
def test_errors(call):
    return call()


@autotest(n=10)
def test_pool_and_flatten():
    m = torch.nn.Sequential(torch.nn.AvgPool2d(2), torch.nn.Flatten(), torch.nn.Linear(8, 2))
    return m(tensor(size(), 2, 4, 4))
