"""Normalisation, in training and in evaluation, with the layers' state after a step; dropout where it is certain."""

from __future__ import annotations

from rows import (
    Layer,
    Op,
    args,
    axis,
    flag,
    main_forms,
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

from autotest import autotest, nothing, oneof, torch


def batch_norm(**named):
    """Draws a batch, running statistics, a scale and an offset."""

    def draw():
        channels = size()
        statistics = [
            tensor(channels, requires_grad=False),
            tensor(channels, low=0.5, high=2, requires_grad=False),
        ]
        return args(tensor(size(2), channels, 2, 2), *statistics, tensor(channels), tensor(channels), **named)

    return draw


def batch_norm_options():
    """Draws a batch of some rank, and whether it trains, how fast, and with what."""
    ndim, channels, training, tracked, scaled = rank(4, 2, 3, 5), size(1, 4).value(), flag(), not flag(), not flag()
    options = {"training": training or not tracked, "momentum": pick(0.1, 0.3, 0.0, 1.0), "eps": pick(1e-5, 1e-2)}
    x = tensor(size(2, 4), channels, *(3, 2, 2)[: ndim - 2])
    statistics = (torch.zeros(channels), torch.ones(channels)) if tracked else (None, None)
    scale, offset = (torch.ones(channels) * 2, torch.ones(channels)) if scaled else (None, None)
    return args(x, *statistics, scale, offset, **options)


def batch(ndim, *more_ranks):
    """Draws a layer over channels, and a batch of images."""

    def draw():
        channels, spatial = size(1, 4).value(), rank(ndim, *more_ranks)
        momentum, affine, tracked = pick(0.1, 0.3, None, 0.0, 1.0), not flag(), not flag()
        built = args(channels, momentum=momentum, affine=affine, track_running_stats=tracked, eps=pick(1e-5, 1e-2))
        return built, args(tensor(size(2, 4), channels, *(size(2, 4), 3, 2)[:spatial]))

    return draw


def instance(ndim):
    """Draws a layer over the channels of each image, and images, perhaps without a batch."""

    def draw():
        channels, batch = size(1, 4).value(), size(1, 4).value()
        batched, affine, tracked = not flag(), flag(), flag()
        built = args(
            channels, eps=pick(1e-5, 1e-2), affine=affine, track_running_stats=tracked, momentum=pick(0.1, 0.3)
        )
        sides = (size(2, 4), 3, 2)[:ndim]
        return built, args(tensor(*((batch, channels) if batched else (channels,)), *sides))

    return draw


def rows():
    """Draws the sizes of a tensor, of which the last one to three are normalised together."""
    columns, rest, count, whole_rank = size(2, 5).value(), (2, 3, 2, 2), pick(1, 2, 3), rank(3, 4, 5)
    drawn = (*rest[: whole_rank - 2], size(2, 4).value(), columns)
    return drawn, drawn[-count:]


def layer_norm():
    """Draws rows, and a scale and an offset for them."""
    columns = size(2)
    return args(tensor(size(), size(), columns), (columns.value(),), tensor(columns), tensor(columns))


def layer_norm_options():
    """Draws a tensor, and a scale and an offset for its last dimensions, each perhaps left out."""
    (every, last), scaled, moved = rows(), not flag(), not flag()
    scale, offset = torch.ones(last) * 2 if scaled else None, torch.ones(last) if moved else None
    return args(tensor(*every), last, scale, offset, eps=pick(1e-5, 1e-2))


def scaled_rows():
    """Draws rows that may need no gradient, and a scale for them, which needs one."""
    columns = size(2)
    x = tensor(size(), columns, requires_grad=pick(False, True))
    return args(x, (columns.value(),), tensor(columns))


def layer_norm_layer():
    """Draws a layer over the last dimensions, and its input."""
    (every, last), affine, bias = rows(), not flag(), oneof(nothing(), False)
    one = flag() and len(last) == 1
    built = args(last[0] if one else last, eps=pick(1e-5, 1e-2), elementwise_affine=affine, bias=bias)
    return built, args(tensor(*every))


def rms_norm_layer():
    """Draws a layer over the last dimensions, and its input."""
    (every, last), affine, eps = rows(), not flag(), oneof(1e-5, 1e-2, nothing())
    return args(last, eps=eps, elementwise_affine=affine), args(tensor(*every))


def group_norm():
    """Draws a layer over groups of channels, one or several or one per channel, and its input."""
    groups, each_has, ndim, affine = pick(2, 1, 3), pick(2, 1, 3), rank(4, 2, 3, 5), not flag()
    built = args(groups, groups * each_has, eps=pick(1e-5, 1e-2), affine=affine)
    return built, args(tensor(size(), groups * each_has, *(size(2, 4), 2, 2)[: ndim - 2]))


def normalized():
    """Draws a tensor, an order, and the dimension whose vectors are divided by their norm."""
    ndim, p = rank(3, 1, 2, 5), pick(2, 1, 3, 0.5, float("inf"))
    dim, eps = axis(ndim), pick(1e-12, 0.5)
    return args(tensor(*sizes(ndim, dim)), p=p, dim=dim, eps=eps)


def dropout(*ranks):
    """Draws a dropout layer, and its input."""

    def draw():
        p, inplace, ndim = pick(0.4, 0.0, 1.0), flag(), rank(*ranks)
        return args(p=p, inplace=inplace), args(tensor(*sizes(ndim)) * 1)

    return draw


def dropped(*ranks):
    """Draws a tensor that dropout leaves as it is."""
    return lambda: args(tensor(*sizes(rank(*ranks))), p=pick(0.4, 0.0, 1.0), training=False)


ROWS = (
    Op("batch_norm", batch_norm(training=True, momentum=0.3), "F", variant="training"),
    Op("batch_norm", batch_norm(), "F"),
    Op(
        "batch_norm",
        batch_norm_options,
        "F",
        variant="options",
        errors={
            "weight": lambda: args(tensor(4, 3), torch.zeros(3), torch.zeros(3), tensor(2), tensor(3), training=True),
            "statistics": lambda: args(tensor(4, 3), torch.zeros(2), torch.zeros(2)),
            "one": lambda: args(tensor(1, 3), torch.zeros(3), torch.zeros(3), training=True),
        },
    ),
    Op("layer_norm", layer_norm, "F", keywords="input normalized_shape weight bias"),
    Op("layer_norm", layer_norm_options, "F", variant="plain"),
    Op("layer_norm", scaled_rows, "F", variant="scale"),
    Op("normalize", normalized, "F"),
    Op("normalize", values(-1, 1, ndim=2), "F", variant="default"),
    *(Layer(f"BatchNorm{n}d", batch(n, *more), mode="train") for n, *more in ((1, 0), (2,), (3,))),
    *(Layer(f"BatchNorm{n}d", batch(n, *more), variant="eval", mode="eval") for n, *more in ((1, 0), (2,), (3,))),
    Layer("LayerNorm", layer_norm_layer),
    Layer("GroupNorm", group_norm),
    *(Layer(f"InstanceNorm{n}d", instance(n)) for n in (1, 2, 3)),
    Layer("RMSNorm", rms_norm_layer),
    Layer("Dropout", dropout(2, 0, 1, 3, 5), variant="eval", mode="eval"),
    *(Layer(f"Dropout{n}d", dropout(n + 2, n + 1), variant="eval", mode="eval") for n in (1, 2, 3)),
    Layer("Dropout", lambda: (args(p=0.0), args(tensor(*shape(2)))), variant="certain"),
    Layer("Dropout", lambda: (args(p=1.0), args(tensor(*shape(2)))), variant="nothing_left"),
    Op("dropout", dropped(2, 0, 1, 3, 5), "F"),
    *(Op(f"dropout{n}d", dropped(n + 2, n + 1), "F") for n in (1, 2, 3)),
)


@main_forms(ROWS)
@autotest(n=10, coverage="pairs")
def test_op(call):
    return call()


@other_forms(ROWS)
@autotest(n=5, coverage="none")
def test_form(call):
    return call()


@autotest(n=10)
def test_two_steps_of_training():
    channels = size()
    m = torch.nn.BatchNorm1d(channels)
    return m(tensor(size(2), channels, 3)) + m(tensor(1, channels, 3, low=0, high=2))


@autotest(n=6)
def test_training_in_a_sequence():
    channels = size()
    m = torch.nn.Sequential(torch.nn.BatchNorm2d(channels), torch.nn.ReLU())
    return m(tensor(size(2), channels, 2, 2))


@wrong_calls(ROWS)
@autotest(n=2, auto_backward=False, check_graph=False, coverage="none")
def test_errors(call):
    return call()
