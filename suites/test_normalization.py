"""Normalisation, in training and in evaluation, with the layers' state after a step; dropout where it is certain."""

from __future__ import annotations

from rows import Layer, Op, args, main_forms, ops, other_forms, real, shape, size, tensor, values, whole

from autotest import autotest, oneof, random_bool, torch


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


def batch(ndim, **named):
    """Draws a layer over channels, and a batch of images."""

    def draw():
        channels = size()
        return args(channels, **named), args(tensor(size(2), channels, *([2] * ndim)))

    return draw


def layer_norm():
    """Draws rows, and a scale and an offset for them."""
    columns = whole(2, 5)
    return args(tensor(size(), size(), columns), (columns,), tensor(columns), tensor(columns))


def layer_norm_layer(**named):
    """Draws a layer over the last two dimensions, and its input."""

    def draw():
        sizes = (whole(2, 5), whole(2, 5))
        return args(sizes, **named), args(tensor(size(), *sizes))

    return draw


def group_norm(**named):
    """Draws a layer over groups of channels, and its input."""

    def draw():
        groups = whole(1, 4)
        return args(groups, groups * 2, **named), args(tensor(size(), groups * 2, 2, size()))

    return draw


def dropout(ndim):
    """Draws a dropout layer, and its input."""
    return lambda: (args(p=real(0, 1)), args(tensor(*shape(ndim))))


ROWS = (
    Op("batch_norm", batch_norm(training=True, momentum=0.3), "F", variant="training"),
    Op("batch_norm", batch_norm(), "F"),
    Op("layer_norm", layer_norm, "F", keywords="input normalized_shape weight bias"),
    Op("layer_norm", lambda: args(tensor(size(), 4), (4,)), "F", variant="plain"),
    Op("normalize", lambda: args(tensor(*shape(2)), p=oneof(1, 2), dim=whole(0, 2)), "F"),
    Op("normalize", values(-1, 1), "F", variant="default"),
    *(Layer(f"BatchNorm{n}d", batch(n, affine=random_bool()), mode="train") for n in (1, 2, 3)),
    *(Layer(f"BatchNorm{n}d", batch(n, affine=random_bool()), variant="eval", mode="eval") for n in (1, 2, 3)),
    *(Layer(f"BatchNorm{n}d", batch(n, track_running_stats=False), variant="statistics") for n in (1, 2, 3)),
    Layer("BatchNorm1d", lambda: (args(3), args(tensor(4, 3))), variant="2d"),
    Layer("BatchNorm2d", batch(2, momentum=None), variant="cumulative"),
    Layer("LayerNorm", layer_norm_layer()),
    Layer("LayerNorm", layer_norm_layer(elementwise_affine=False), variant="plain"),
    Layer("LayerNorm", lambda: (args(3, eps=1e-3), args(tensor(size(), 3))), variant="number"),
    Layer("GroupNorm", group_norm()),
    Layer("GroupNorm", group_norm(affine=False), variant="plain"),
    *(Layer(f"InstanceNorm{n}d", batch(n)) for n in (1, 2, 3)),
    Layer("InstanceNorm2d", batch(2, affine=True), variant="affine"),
    Layer("InstanceNorm2d", batch(2, track_running_stats=True), variant="eval", mode="eval"),
    Layer("RMSNorm", lambda: (args(4, eps=1e-5), args(tensor(size(), 4)))),
    Layer("Dropout", dropout(2), variant="eval", mode="eval"),
    *(Layer(f"Dropout{n}d", dropout(n + 2), variant="eval", mode="eval") for n in (1, 2, 3)),
    Layer("Dropout", lambda: (args(p=0.0), args(tensor(*shape(2)))), variant="certain"),
    Layer("Dropout", lambda: (args(p=1.0), args(tensor(*shape(2)))), variant="nothing_left"),
    Op("dropout", lambda: args(tensor(*shape(2)), p=0.4, training=False), "F"),
    *ops("dropout1d", lambda: args(tensor(*shape(3)), p=0.4, training=False), "F"),
    *ops("dropout2d", lambda: args(tensor(*shape(4)), p=0.4, training=False), "F"),
    *ops("dropout3d", lambda: args(tensor(*shape(5)), p=0.4, training=False), "F"),
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
