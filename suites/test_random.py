"""Ops that draw random numbers: each case is compared without its values, each op once by a large sample."""

from __future__ import annotations

import pytest
from rows import Layer, Op, args, main_forms, ops, real, size, tensor, values, whole

from autotest import autotest, torch


def sizes(*before, **named):
    """Draws a shape of two dimensions, after other arguments."""
    return lambda: args(*before, (whole(2, 5), whole(2, 5)), **named)


def batch(ndim):
    """Draws a tensor of so many dimensions, none of them 1."""
    return tensor(*(whole(2, 5) for _ in range(ndim)))


def dropout(ndim):
    """Draws a tensor and the share to drop."""
    return lambda: args(batch(ndim), p=real(0.2, 0.8))


def dropout_layer(ndim):
    """Draws a dropout layer, and its input."""
    return lambda: (args(p=real(0.2, 0.8)), args(batch(ndim)))


def weights():
    """Draws positive weights of 5 outcomes."""
    return tensor(whole(2, 4), 5, low=0.1, high=1, requires_grad=False)


def probabilities():
    """Draws probabilities."""
    return tensor(whole(2, 5), whole(2, 5), low=0.1, high=0.9, requires_grad=False)


def recurrent(**named):
    """Draws a recurrent layer with dropout between its two layers, and its input."""
    return lambda: (args(3, 2, num_layers=2, dropout=0.5, **named), args(tensor(2, 2, 3)))


ROWS = (
    *ops("dropout alpha_dropout feature_alpha_dropout", dropout(2), "F"),
    Op("dropout1d", dropout(3), "F"),
    Op("dropout2d", dropout(4), "F"),
    Op("dropout3d", dropout(5), "F"),
    Op("rrelu", lambda: args(batch(2), training=True), "F"),
    Op("gumbel_softmax", values(-1, 1), "F"),
    *ops("rand randn", sizes(), "torch"),
    Op("randint", sizes(0, 5), "torch"),
    Op("randperm", lambda: args(whole(3, 8)), "torch"),
    Op("normal", sizes(0.5, 2.0), "torch"),
    *ops("rand_like randn_like", lambda: args(batch(2).detach()), "torch"),
    Op("bernoulli", lambda: args(probabilities()), "torch Tensor"),
    Op("multinomial", lambda: args(weights(), 2), "torch Tensor"),
    Op("multinomial", lambda: args(tensor(5, low=0.1, high=1, requires_grad=False), 1), "torch", variant="one"),
    Op("multinomial", lambda: args(weights(), 9, True), "torch", variant="replacement"),
    Op("poisson", lambda: args(weights()), "torch"),
    Layer("Dropout", dropout_layer(2)),
    *(Layer(f"Dropout{n}d", dropout_layer(n + 2)) for n in (1, 2, 3)),
    *(Layer(name, dropout_layer(2)) for name in ("AlphaDropout", "FeatureAlphaDropout")),
    Layer("RReLU", lambda: (args(), args(batch(2)))),
    Layer("LSTM", recurrent()),
    Layer("GRU", recurrent()),
)
IN_PLACE = {
    "uniform_": (-1.0, 2.0),
    "normal_": (0.5, 2.0),
    "bernoulli_": (0.3,),
    "exponential_": (1.5,),
    "random_": (0, 7),
    "log_normal_": (0.0, 0.5),
    "cauchy_": (),
    "geometric_": (0.4,),
}
INITS = ("uniform_", "normal_", "trunc_normal_", "xavier_uniform_", "xavier_normal_", "orthogonal_")
INITS += ("kaiming_uniform_", "kaiming_normal_")


@main_forms(ROWS)
@autotest(n=6, coverage="none")
def test_op(call):
    return call()


@pytest.mark.parametrize("name", IN_PLACE)
@autotest(n=6, coverage="none")
def test_in_place(name):
    x = tensor(whole(2, 5), whole(2, 5), requires_grad=False)
    return getattr(x, name)(*IN_PLACE[name])


@pytest.mark.parametrize("name", INITS)
@autotest(n=6, check_graph=False, coverage="none")
def test_init(name):
    return getattr(torch.nn.init, name)(torch.ones(4, whole(2, 5)))


@autotest(n=6, coverage="none")
def test_what_is_computed_from_random_values():
    x = tensor(size(), 4)
    return torch.nn.Linear(4, 3)(torch.nn.functional.dropout(x, 0.5)), torch.sin(x)
