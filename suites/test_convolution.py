"""Convolutions, transposed convolutions, and the folding of windows."""

from __future__ import annotations

from rows import (
    Layer,
    Op,
    args,
    each,
    flag,
    main_forms,
    other_forms,
    per_dimension,
    pick,
    size,
    tensor,
    whole,
    wrong_calls,
)

from autotest import autotest, random, torch


def slid(ndim, *, transposed=False):
    """Draws how to slide: stride, padding, dilation, and of a transposed convolution what to add at the end."""
    more = {}
    if transposed:  # less than the stride or the dilation
        stride, dilation, added = pick(2, 1, 3, (1, 2), (2, 1)), pick(1, 2, (1, 2)), pick(0, 1, (1, 0))
        least = [max(a, b) - 1 for a, b in zip(per_dimension(ndim, stride), per_dimension(ndim, dilation), strict=True)]
        parts = zip(per_dimension(ndim, added), least, strict=True)
        more["output_padding"] = tuple(min(part, most) for part, most in parts)
    else:
        stride, dilation = pick(1, 2, 3, (1, 2), (2, 1)), pick(1, 2, (1, 2))
    more["stride"] = stride if isinstance(stride, int) else per_dimension(ndim, stride)
    more["dilation"] = dilation if isinstance(dilation, int) else per_dimension(ndim, dilation)
    return {"padding": each(ndim, 0, 1, 2, (1, 0), (0, 2)), **more}


def grouped():
    """Draws channels, channels out, and groups: one, two, or one per channel, with several outputs."""
    kind, wide, times = pick("one", "two", "each"), pick(2, 4), pick(1, 2)
    groups = {"one": 1, "two": 2, "each": wide}[kind]
    return wide, (3 if groups == 1 else groups) * times, groups


def kernels(ndim):
    """Draws the sizes of a kernel; small ones in three dimensions, for the time they take."""
    return per_dimension(ndim, pick(2, 1, (1, 3)) if ndim == 3 else pick(2, 3, 1, (1, 3)))


def image(ndim, channels, *, batched=True):
    """Draws images of so many channels, the last of their sides perhaps long."""
    batch, long = size(1, 3).value(), size(8, 11).value()
    sides = {1: (long,), 2: (8, long), 3: (4, 5, long)}[ndim]
    return tensor(*((batch, channels) if batched else (channels,)), *sides)


def function(ndim, *, transposed=False):
    """Draws an image, a weight, and how to slide."""

    def draw():
        (channels, out, groups), kernel = grouped(), kernels(ndim)
        options, batched = slid(ndim, transposed=transposed), not flag()
        x = image(ndim, channels, batched=batched)
        weight = tensor(*((channels, out // groups) if transposed else (out, channels // groups)), *kernel)
        return args(x, weight, groups=groups, **options)

    return draw


def plain(ndim):
    """Draws an image, a weight and a bias; slides as by default."""

    def draw():
        channels, out = size(1, 4), whole(1, 4)
        kernel = (whole(1, 4),) * ndim
        return args(tensor(size(1, 3), channels, *([4] * ndim)), tensor(out, channels, *kernel), tensor(out))

    return draw


def padded_out(ndim):
    """Draws a transposed convolution that pads what it gives by more than it strides."""
    return lambda: args(tensor(1, 2, *[4] * ndim), tensor(2, 3, *[3] * ndim), output_padding=1)


def layer(ndim, *, transposed=False):
    """Draws a convolution layer and an image."""

    def draw():
        (channels, out, groups), kernel = grouped(), kernels(ndim)
        options, batched, bias = slid(ndim, transposed=transposed), not flag(), not flag()
        built = args(channels, out, kernel_size=pick(kernel, kernel[0]), groups=groups, bias=bias, **options)
        return built, args(image(ndim, channels, batched=batched))

    return draw


def bordered(ndim):
    """Draws a convolution layer, what lies around its image, and how far."""

    def draw():
        mode = pick("reflect", "replicate", "circular", "zeros")
        padding = pick(1, 0, 2, (1, 2), "same", "valid")
        padding = per_dimension(ndim, padding) if isinstance(padding, tuple) else padding
        stride = 1 if padding == "same" else pick(1, 2)
        kernel, dilation, bias = pick(3, 2, 1), pick(1, 2), not flag()
        built = args(2, 3, kernel, stride, padding, dilation, padding_mode=mode, bias=bias)
        return built, args(image(ndim, 2))

    return draw


def windows(ndim=2):
    """Draws windows: their size, dilation, padding and stride."""
    return {
        "kernel_size": each(ndim, 2, 1, 3, (2, 3), (1, 2)),
        "dilation": each(ndim, 1, 2, (1, 2)),
        "padding": each(ndim, 0, 1, 2, (1, 0)),
        "stride": each(ndim, 1, 2, 3, (2, 1)),
    }


def folded():
    """Draws windows and an image's size, then the columns that fold to it."""
    kernel, dilation, padding, stride = (part.value() for part in windows().values())
    sides, batched, batch, count = pick((6, 7), (7, 5), (8, 8)), not flag(), size(1, 3).value(), size(1, 3).value()
    columns = 1
    for axis in range(2):
        k, d, p, s = (per_dimension(2, part)[axis] for part in (kernel, dilation, padding, stride))
        columns *= (sides[axis] + 2 * p - d * (k - 1) - 1) // s + 1
    channels = count * per_dimension(2, kernel)[0] * per_dimension(2, kernel)[1]
    x = tensor(*((batch, channels) if batched else (channels,)), columns)
    return x, (sides, kernel), {"dilation": dilation, "padding": padding, "stride": stride}


def fold_function():
    """Draws what `fold` takes."""
    x, built, named = folded()
    return args(x, *built, **named)


def fold_layer():
    """Draws the layer for `folded`."""
    x, built, named = folded()
    return args(*built, **named), args(x)


def padded_by_word():
    """Draws an image, a weight, and how to pad."""
    kernel, ndim = pick(3, 2, 1, (2, 3)), 2
    word, dilation, groups = pick("same", "valid"), pick(1, 2, (1, 2)), pick(1, 2)
    stride = 1 if word == "same" else pick(1, 2)
    weight = tensor(4, 2 // groups, *per_dimension(ndim, kernel))
    return args(image(ndim, 2), weight, padding=word, dilation=dilation, groups=groups, stride=stride)


ROWS = (
    Op("conv1d", plain(1), "F", keywords="input weight bias", variant="default"),
    Op("conv2d", plain(2), "F", keywords="input weight bias", variant="default"),
    Op(
        "conv2d",
        function(2),
        "F",
        errors={
            "channels": lambda: args(tensor(1, 3, 4, 4), tensor(2, 2, 3, 3)),
            "kernel": lambda: args(tensor(1, 2, 2, 2), tensor(2, 2, 3, 3)),
            "groups": lambda: args(tensor(1, 4, 4, 4), tensor(3, 2, 3, 3), groups=2),
            "bias": lambda: args(tensor(1, 2, 4, 4), tensor(2, 2, 3, 3), tensor(3)),
        },
    ),
    *(
        Op(f"conv{n}d", function(n), "F", errors={"matrix": lambda n=n: args(tensor(1, 2, *[4] * n), tensor(2, 2))})
        for n in (1, 3)
    ),
    Op("conv2d", padded_by_word, "F", variant="w"),
    *(
        Op(f"conv_transpose{n}d", function(n, transposed=True), "F", errors={"output_padding": padded_out(n)})
        for n in (1, 2, 3)
    ),
    Op("unfold", lambda: args(image(2, size(1, 3)), **windows()), "F"),
    Op("fold", fold_function, "F"),
    *(Layer(f"Conv{n}d", layer(n)) for n in (1, 2, 3)),
    *(Layer(f"Conv{n}d", bordered(n), variant="reflect") for n in (1, 2, 3)),
    *(Layer(f"ConvTranspose{n}d", layer(n, transposed=True)) for n in (1, 2, 3)),
    Layer("Unfold", lambda: (args(**windows()), args(image(2, size(1, 3))))),
    Layer("Fold", fold_layer),
)


@main_forms(ROWS)
@autotest(n=10, coverage="pairs")
def test_op(call):
    return call()


@other_forms(ROWS)
@autotest(n=5, coverage="none")
def test_form(call):
    return call()


@wrong_calls(ROWS)
@autotest(n=2, auto_backward=False, check_graph=False, coverage="none")
def test_errors(call):
    return call()


@autotest(n=10)
def test_conv_relu_pool():
    conv = torch.nn.Conv2d(3, random(1, 4), kernel_size=3, padding=1)
    pool = torch.nn.MaxPool2d(2)
    return pool(torch.relu(conv(tensor(size(1, 3), 3, 4, 4))))
