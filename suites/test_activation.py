"""Activations, as functions with default and with given arguments, and as layers. Inputs keep off the kinks."""

from __future__ import annotations

from rows import Layer, Op, args, layers, main_forms, ops, other_forms, real, shape, size, tensor, whole

from autotest import autotest, oneof, torch


def wide(*more, **named):
    """Draws a tensor on both sides of zero."""
    return lambda: args(tensor(*shape(2), low=-5, high=5), *more, **named)


def layer(*built, **named):
    """Draws a layer with these arguments, and its input."""
    return lambda: (args(*built, **named), args(tensor(*shape(2), low=-5, high=5)))


def along():
    """Draws a tensor and one of its dimensions."""
    return args(tensor(*shape(3), low=-4, high=4), whole(-3, 3))


def channels():
    """Draws a tensor of four dimensions and a slope for each channel, or one for all."""
    count = whole(1, 5)
    return args(tensor(size(), count, size(), size()), tensor(oneof(1, count).value(), low=0.1))


def shape_alone(result):
    """A tensor of the result's shape and dtype, for its values are random."""
    return torch.zeros_like(result)


ROWS = (
    *ops("relu", wide(), "torch Tensor Tensor_ F", keywords="input"),
    *ops("selu", wide(), "torch F"),
    *ops("sigmoid tanh", wide(), "F"),
    *ops("relu6 gelu silu mish celu elu leaky_relu hardtanh hardswish hardsigmoid softplus softsign", wide(), "F"),
    *ops("softshrink hardshrink logsigmoid", wide(), "F"),
    *ops("relu relu6 selu celu elu leaky_relu hardtanh silu mish hardswish", wide(inplace=False), "F", variant="named"),
    Op("relu", lambda: args(tensor(*shape(2)) * 2, inplace=True), "F", variant="inplace"),
    Op("gelu", wide(approximate="tanh"), "F", variant="tanh"),
    *ops("elu celu", wide(0.7), "F", variant="alpha"),
    *ops("elu celu", wide(alpha=0.7), "F", variant="alpha_named"),
    *ops("leaky_relu", wide(0.2), "F", variant="slope"),
    *ops("hardtanh", wide(-1.5, 2.0), "F", variant="range"),
    *ops("softplus", wide(2, 10), "F", variant="beta"),
    *ops("softshrink hardshrink", wide(0.7), "F", variant="lambd"),
    *ops("threshold", wide(0.5, -1.0), "torch F"),
    *ops("glu", lambda: args(tensor(size(), 4), oneof(-1, 1)), "F"),
    *ops("glu", lambda: args(tensor(size(), 4)), "F", variant="default"),
    *ops("prelu", channels, "F"),
    *ops("softmax log_softmax", along, "torch Tensor F", keywords="input dim"),
    *ops("softmax", lambda: args(*along().args, dtype=torch.float64), "F", variant="dtype"),
    Op("gumbel_softmax", lambda: args(tensor(size(), 4), dim=1), "F", then=shape_alone),
    *layers("ReLU ReLU6 GELU SiLU Mish SELU CELU ELU LeakyReLU Hardtanh Hardswish", layer()),
    *layers("Hardsigmoid Softplus Softsign Softshrink Hardshrink LogSigmoid", layer()),
    *layers("Sigmoid Tanh", layer()),
    *layers("Softmax LogSoftmax", layer(dim=1)),
    *layers("CELU ELU Softshrink Hardshrink", layer(0.7), variant="alpha"),
    Layer("LeakyReLU", layer(negative_slope=0.2), variant="slope"),
    Layer("Hardtanh", layer(min_val=-1.5, max_val=2.0), variant="range"),
    Layer("Softplus", layer(beta=2), variant="beta"),
    Layer("Threshold", layer(0.5, -1.0)),
    Layer("GLU", lambda: (args(dim=1), args(tensor(size(), 4)))),
    Layer("PReLU", lambda: (args(num_parameters=3, init=0.1), args(tensor(size(), 3, size(), size())))),
    Layer("PReLU", lambda: (args(), args(tensor(*shape(2)))), variant="default"),
    Op("softmax", lambda: args(tensor(size()), 0), "torch", variant="1d"),
)


@main_forms(ROWS)
@autotest(n=10, coverage="pairs")
def test_op(call):
    return call()


@other_forms(ROWS)
@autotest(n=5, coverage="none")
def test_form(call):
    return call()


@autotest(n=1)
def test_prelu_of_one_dimension():  # OneFlow 0.9.0 aborts, each time
    return torch.nn.PReLU()(tensor(size()))


@autotest(n=10)
def test_gated():
    x = tensor(size(), 4, low=-3, high=3)
    left, right = x.chunk(2, dim=1)
    return torch.nn.functional.silu(left) * torch.sigmoid(right * real(0.5, 2))
