"""Convolutions, transposed convolutions, and the folding of windows."""

from __future__ import annotations

from rows import Layer, Op, args, main_forms, other_forms, size, tensor, whole, wrong_calls

from autotest import autotest, oneof, random, random_bool, torch


def function(ndim, *, bias=True, transposed=False, groups=False):
    """Draws an image, a weight, perhaps a bias, and how to slide."""

    def draw():
        group = whole(1, 3) if groups else 1
        channels, out = size(1, 4), whole(1, 4)
        kernel = (whole(1, 4),) * ndim
        wide = channels * group
        x = tensor(size(1, 3), wide, *([4] * ndim))
        weight = tensor(*((wide, out) if transposed else (out * group, channels)), *kernel)
        parts = (tensor(out * group),) if bias else ()
        return args(x, weight, *parts, stride=whole(1, 3), padding=whole(0, 2), groups=group)

    return draw


def layer(ndim, **fixed):
    """Draws a convolution layer and an image."""

    def draw():
        channels = size(1, 4)
        options = {"stride": random(1, 3), "padding": random(0, 3), "bias": random_bool(), **fixed}
        built = args(channels, random(1, 4), kernel_size=random(1, 4), **options)
        return built, args(tensor(size(1, 3), channels, *([5] * ndim)))

    return draw


def grouped():
    """Draws a convolution in groups and an image."""
    groups = random(1, 4)
    return args(groups * 2, groups * size(1, 3), kernel_size=3, groups=groups), args(
        tensor(size(1, 3), groups * 2, 4, size(3, 5))
    )


def folded():
    """Draws columns that fold to an image of 4 x 4."""
    return args(tensor(size(1, 3), size(1, 3) * 4, 9), (4, 4), (2, 2))


def padded_by_word():
    """Draws an image, a weight, and how to pad."""
    return args(tensor(1, 2, 4, 4), tensor(2, 2, 3, 3), padding=oneof("same", "valid"))


ROWS = (
    Op("conv1d", function(1), "F", keywords="input weight bias"),
    Op(
        "conv2d",
        function(2),
        "F",
        keywords="input weight bias",
        errors={
            "channels": lambda: args(tensor(1, 3, 4, 4), tensor(2, 2, 3, 3)),
            "kernel": lambda: args(tensor(1, 2, 2, 2), tensor(2, 2, 3, 3)),
            "groups": lambda: args(tensor(1, 4, 4, 4), tensor(3, 2, 3, 3), groups=2),
            "bias": lambda: args(tensor(1, 2, 4, 4), tensor(2, 2, 3, 3), tensor(3)),
        },
    ),
    Op("conv3d", function(3), "F"),
    Op("conv1d", function(1, bias=False, groups=True), "F", variant="groups"),
    Op("conv2d", function(2, bias=False, groups=True), "F", variant="groups"),
    Op("conv3d", function(3, bias=False), "F", variant="no_bias"),
    Op(
        "conv2d", lambda: args(tensor(1, 2, 4, 4), tensor(2, 2, 3, 3), padding=oneof("same", "valid")), "F", variant="w"
    ),
    Op("conv_transpose1d", function(1, transposed=True), "F"),
    Op("conv_transpose2d", function(2, transposed=True), "F"),
    Op("conv_transpose3d", function(3, transposed=True), "F"),
    Op("unfold", lambda: args(tensor(size(1, 3), size(1, 3), 4, 4), oneof(1, 2, (2, 3)), stride=oneof(1, 2)), "F"),
    Op("fold", folded, "F"),
    Layer("Conv1d", layer(1, dilation=random(1, 3))),
    Layer("Conv2d", layer(2, dilation=random(1, 3))),
    Layer("Conv3d", layer(3)),
    Layer("Conv2d", grouped, variant="groups"),
    Layer("Conv2d", layer(2, padding=(1, 0), stride=(1, 2)), variant="tuples"),
    Layer("Conv2d", layer(2, padding=1, padding_mode="reflect", stride=1), variant="reflect"),
    Layer("ConvTranspose1d", layer(1, padding=0)),
    Layer("ConvTranspose2d", layer(2, padding=0)),
    Layer("ConvTranspose3d", layer(3, padding=0)),
    Layer("ConvTranspose2d", layer(2, padding=0, stride=2, output_padding=1), variant="output_padding"),
    Layer("Unfold", lambda: (args(kernel_size=2, stride=oneof(1, 2)), args(tensor(size(1, 3), 2, 4, 4)))),
    Layer("Fold", lambda: (args((4, 4), kernel_size=(2, 2)), args(tensor(size(1, 3), 8, 9)))),
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
