"""Activations, as functions with default and with given arguments, and as layers. Inputs keep off the kinks."""

from __future__ import annotations

from rows import (
    Layer,
    Op,
    args,
    axis,
    flag,
    layers,
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

from autotest import autotest, torch


def wide(*more, **named):
    """Draws a tensor on both sides of zero."""
    return lambda: args(tensor(*sizes(rank()), low=-5, high=5), *more, **named)


def far():
    """Draws a tensor on both sides of the kinks that lie far from zero: 6 for relu6, 20 for softplus."""
    return args(tensor(*sizes(rank()), low=-10, high=30))


def given(*drawn, **named):
    """Draws a tensor on both sides of zero, and arguments of which each is one of its choices."""

    def draw():
        more, options = [pick(*choices) for choices in drawn], {key: pick(*choices) for key, choices in named.items()}
        return args(tensor(*sizes(rank()), low=-5, high=5), *more, **options)

    return draw


def layer(**named):
    """Draws a layer, of whose arguments each is one of its choices, and its input."""

    def draw():
        options = {key: pick(*choices) for key, choices in named.items()}
        return args(**options), args(tensor(*sizes(rank()), low=-5, high=5))

    return draw


def overwriting(**named):
    """As `layer`, of a layer that may overwrite its input."""

    def draw():
        options = {key: pick(*choices) for key, choices in named.items()}
        return args(**options, inplace=flag()), args(tensor(*sizes(rank()), low=-5, high=5) * 2)

    return draw


def along():
    """Draws a tensor and one of its dimensions."""
    ndim = rank()
    dim = axis(ndim)
    return args(tensor(*sizes(ndim, dim), low=-4, high=4), dim)


def along_layer():
    """Draws the layer for `along`."""
    x, dim = along().args
    return args(dim=dim), args(x)


def halved():
    """Draws a tensor with an even size, and the dimension that has it."""
    ndim = rank(2, 1, 3, 5)
    dim = axis(ndim)
    drawn = [*sizes(ndim, dim - 1)]
    drawn[dim] = 4
    return args(tensor(*drawn, low=-4, high=4), dim)


def halved_layer():
    """Draws the layer for `halved`."""
    x, dim = halved().args
    return args(dim=dim), args(x)


def channels():
    """Draws a tensor of two dimensions to five and a slope for each channel, or one for all."""
    ndim, count, one = rank(4, 2, 3, 5), whole(1, 5), flag()
    x = tensor(size(), count, *(size(), 2, 2)[: ndim - 2])
    return args(x, tensor(1 if one else count, low=0.1))


def shape_alone(result):
    """A tensor of the result's shape and dtype, for its values are random."""
    return torch.zeros_like(result)


#: PyTorch has kernels of real numbers alone.
OF_INTEGERS = {"integers": lambda: args(tensor(2, 3, dtype=int))}

ROWS = (
    *ops("relu", wide(), "torch Tensor Tensor_ F", keywords="input"),
    *ops("selu", wide(), "torch F"),
    *ops("sigmoid tanh", wide(), "F"),
    *ops("relu6 gelu silu mish celu elu leaky_relu hardtanh hardswish hardsigmoid softplus softsign", wide(), "F"),
    *ops("softshrink hardshrink logsigmoid", wide(), "F"),
    *ops("relu relu6 selu celu elu leaky_relu hardtanh silu mish hardswish", wide(inplace=False), "F", variant="named"),
    Op("relu", lambda: args(tensor(*shape(2)) * 2, inplace=True), "F", variant="inplace"),
    Op("gelu", given(approximate=("tanh", "none")), "F", variant="tanh"),
    *ops("elu celu", given((0.7, 2.0, 0.1, 1)), "F", variant="alpha", errors=OF_INTEGERS),
    *ops("elu celu", given(alpha=(0.7, 2.0)), "F", variant="alpha_named"),
    *ops("leaky_relu", given((0.2, 0.0, -0.5, 1, 2.0)), "F", variant="slope", errors=OF_INTEGERS),
    *ops("hardtanh", given((-1.5, 0, -3), (2.0, 1, 0.5)), "F", variant="range"),
    *ops("softplus", given((2, 1, 0.5), (10, 20, 1, -1)), "F", variant="beta"),
    *ops("relu6 softplus", far, "F", variant="far"),
    *ops("softshrink hardshrink", given((0.7, 0, 3.0)), "F", variant="lambd", errors=OF_INTEGERS),
    *ops("threshold", given((0.5, 0, -2.0), (-1.0, 0, 3)), "torch F"),
    *ops(
        "glu",
        halved,
        "F",
        errors={"odd": lambda: args(tensor(2, 3)), "integers": lambda: args(tensor(2, 4, low=-4, high=4, dtype=int))},
    ),
    *ops("glu", lambda: args(tensor(size(), 4)), "F", variant="default"),
    *ops("prelu", channels, "F"),
    *ops("softmax log_softmax", along, "torch Tensor F", keywords="input dim"),
    *ops("softmax", lambda: args(*along().args, dtype=pick(torch.float64, torch.float32)), "F", variant="dtype"),
    Op("gumbel_softmax", lambda: args(tensor(size(), 4), dim=1), "F", then=shape_alone),
    *layers("ReLU ReLU6 SiLU Mish SELU CELU ELU LeakyReLU Hardtanh Hardswish Hardsigmoid", overwriting()),
    Layer("GELU", layer(approximate=("none", "tanh"))),
    *layers("Softplus Softsign Softshrink Hardshrink LogSigmoid", layer()),
    *layers("Sigmoid Tanh", layer()),
    *layers("Softmax LogSoftmax", along_layer),
    *layers("CELU ELU", overwriting(alpha=(0.7, 2.0, 0.1)), variant="alpha"),
    *layers("Softshrink Hardshrink", layer(lambd=(0.7, 0, 3.0)), variant="alpha"),
    Layer("LeakyReLU", overwriting(negative_slope=(0.2, 0.0, 2.0)), variant="slope"),
    Layer("Hardtanh", overwriting(min_val=(-1.5, 0, -3), max_val=(2.0, 1, 0.5)), variant="range"),
    Layer("Softplus", layer(beta=(2, 1, 0.5), threshold=(20, 1, 10)), variant="beta"),
    *layers("ReLU6 Softplus", lambda: (args(), far()), variant="far"),
    Layer("Threshold", overwriting(threshold=(0.5, 0, -2.0), value=(-1.0, 0, 3))),
    Layer("GLU", halved_layer),
    Layer("PReLU", lambda: (args(num_parameters=3, init=0.1), args(tensor(size(), 3, size(), size())))),
    Layer("PReLU", lambda: (args(), args(tensor(*shape(2)))), variant="default"),
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


@autotest(n=1)
def test_prelu_of_one_dimension():  # OneFlow 0.9.0 aborts, each time
    return torch.nn.PReLU()(tensor(size()))


@autotest(n=10)
def test_gated():
    x = tensor(size(), 4, low=-3, high=3)
    left, right = x.chunk(2, dim=1)
    return torch.nn.functional.silu(left) * torch.sigmoid(right * real(0.5, 2))
