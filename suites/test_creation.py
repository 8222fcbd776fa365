"""Ops that make tensors, from sizes and ranges or like another. Of random and uninitialised ones only what is
defined is compared: shape and dtype.
"""

from __future__ import annotations

import pytest
from refusals import refused
from rows import (
    Op,
    args,
    eager_forms,
    flag,
    main_forms,
    ops,
    other_forms,
    pick,
    rank,
    shape,
    size,
    tensor,
    values,
    whole,
    wrong_calls,
)

from autotest import autotest, torch


def shaped():
    """Draws a shape of up to five dimensions, some of size 0 or 1."""
    return tuple((size(1, 5).value(), size(1, 4).value(), 2, 1, 3)[: rank(2, 0, 1, 3, 5)])


def sizes(*more, **named):
    """Draws a shape, and arguments of which each is one of its choices."""

    def draw():
        options = {key: pick(*choices) for key, choices in named.items()}
        return args(shaped(), *(pick(*choices) for choices in more), **options)

    return draw


def like(**named):
    """Draws a tensor of some dtype, and arguments of which each is one of its choices."""

    def draw():
        dtype = pick("int64", "int32", "float32", "float64", "uint8", "int8", "bool")
        options = {key: pick(*choices) for key, choices in named.items()}
        return args(tensor(*shaped(), low=0, high=2 if dtype == "bool" else 5, dtype=dtype), **options)

    return draw


def shape_alone(result):
    """A tensor of the result's shape and dtype."""
    return torch.zeros_like(result)


#: What sizes and values are made of.
_DTYPES = (torch.int64, torch.int32, torch.float32, torch.float64, torch.uint8, torch.int8, torch.bool)


def wider():
    """Draws the ends of a range of numbers which float64 takes for those beside them."""
    start = pick((1 << 53) + 1, -(1 << 60) - 1)
    return args(start, start + 6, whole(1, 3))


ROWS = (
    *ops("zeros ones", sizes(), "torch"),
    *ops("zeros ones", sizes(dtype=_DTYPES), "torch", variant="int64"),
    *ops("zeros ones", lambda: args(whole(1, 5), whole(1, 5)), "torch", variant="numbers"),
    Op("full", sizes((2.5, -0.5, 0.0, float("inf"), float("nan"))), "torch"),
    Op("full", sizes((2, 0, -1, 2**31)), "torch", variant="int"),
    Op("full", sizes((True, False)), "torch", variant="bool", errors={"below_0": lambda: args((-1, 2), True)}),
    Op("empty", sizes(), "torch", then=shape_alone),
    *ops("zeros_like ones_like", like(), "torch"),
    *ops("zeros_like ones_like", like(dtype=_DTYPES), "torch", variant="dtype"),
    Op("full_like", lambda: args(like()().args[0], pick(3, 0, 1)), "torch"),
    Op("empty_like", like(), "torch", then=shape_alone),
    *ops("new_zeros new_ones", lambda: args(like()().args[0], shaped()), "Tensor"),
    Op("new_full", lambda: args(like()().args[0], shaped(), pick(3, 0, 1)), "Tensor"),
    Op("new_empty", lambda: args(like()().args[0], shaped()), "Tensor", then=shape_alone),
    Op("new_tensor", lambda: args(tensor(2, requires_grad=False), [1.0, 2.0]), "Tensor"),
    Op("arange", lambda: args(whole(0, 7)), "torch"),
    Op("arange", lambda: args(whole(-3, 1), whole(1, 7), whole(1, 4)), "torch", variant="step"),
    Op("arange", lambda: args(pick(0.5, -1.0, 0), pick(3.0, 2.5, 4), pick(0.5, 0.7, 1)), "torch", variant="float"),
    Op("arange", lambda: args(pick(0, 1), pick(2.5, 4.5)), "torch", variant="int_to_float"),
    Op("arange", lambda: args(pick(1 << 24, (1 << 24) + 1), (1 << 24) + 6, whole(1, 3)), "torch", variant="wide"),
    Op("arange", wider, "torch", variant="wider"),
    Op("arange", lambda: args(pick(5, 4, 0), pick(0, -3), pick(-2, -1, -0.5)), "torch", variant="down"),
    Op("linspace", lambda: args(pick(-1.0, 0, 3), pick(2.0, -1, 0), whole(0, 6)), "torch"),
    Op(
        "linspace",
        lambda: args(pick(0, -4), pick(5, 7), whole(2, 6), dtype=pick(torch.int64, torch.int32)),
        "torch",
        variant="whole",
    ),
    Op("logspace", lambda: args(pick(0.0, -1, 2), pick(2.0, -1.5), whole(0, 6)), "torch"),
    Op("eye", lambda: args(whole(0, 6)), "torch"),
    Op("eye", lambda: args(whole(0, 5), whole(0, 6)), "torch", variant="two"),
    Op("tensor", lambda: args([1.5, 2.5, whole(0, 3)]), "torch"),
    Op("tensor", lambda: args([[1, 2], [3, whole(0, 3)]]), "torch", variant="int"),
    Op("tensor", lambda: args([True, False]), "torch", variant="bool"),
    Op("tensor", lambda: args(whole(0, 3)), "torch", variant="number"),
    Op("as_tensor", lambda: args([1.5, 2.5]), "torch"),
    Op("hann_window", lambda: args(whole(0, 8)), "torch"),
    Op("hann_window", lambda: args(whole(0, 8), periodic=flag()), "torch", variant="symmetric"),
    Op("rand", sizes(), "torch", then=shape_alone, errors={"below_0": lambda: args((-1, 0))}),
    Op("randn", sizes(), "torch", then=shape_alone),
    Op("randint", lambda: args(0, 5, shaped()), "torch", then=shape_alone),
    *ops("randn_like", values(0, 1), "torch", then=shape_alone),
    Op("randint_like", lambda: args(tensor(*shape(2)), 0, 5), "torch", then=shape_alone),
    Op("randperm", lambda: args(whole(1, 6)), "torch", then=shape_alone),
    Op("normal", lambda: args(0.0, 1.0, shaped()), "torch", then=shape_alone),
    Op("bernoulli", values(0.1, 0.9), then=shape_alone),
    Op("multinomial", lambda: args(tensor(size(), 4, low=0.1), 2), "torch", then=shape_alone),
    Op(
        "one_hot",
        lambda: args(tensor(*shaped(), low=0, high=4, dtype=int), pick(4, 5, 7)),
        "F",
        errors={"below_0": lambda: args(tensor(2, low=-4, high=0, dtype=int), 4)},
    ),
    Op("one_hot", lambda: args(tensor(size(), low=0, high=4, dtype=int)), "F", variant="default", graph=False),
)


@main_forms(ROWS)
@autotest(n=10, coverage="pairs")
def test_op(call):
    return call()


@wrong_calls(ROWS)
@autotest(n=2, auto_backward=False, check_graph=False, coverage="none")
def test_errors(call):
    return call()


@other_forms(ROWS)
@autotest(n=5, coverage="none")
def test_form(call):
    return call()


@eager_forms(ROWS)
@autotest(n=5, check_graph=False)
def test_eager(call):
    return call()


#: How each op that takes a shape is given one.
OF_A_SHAPE = {
    **{name: getattr(torch, name) for name in ("zeros", "ones", "empty", "rand", "randn")},
    "full": lambda shape: torch.full(shape, 1.0),
    "randint": lambda shape: torch.randint(0, 5, shape),
}


@pytest.mark.parametrize("made", OF_A_SHAPE.values(), ids=OF_A_SHAPE)
@autotest(n=2, auto_backward=False, check_graph=False, coverage="none")
def test_negative_size(made):
    """A size below zero is refused."""
    refused(lambda: made((2, pick(-1, -3))))


@autotest(n=10)
def test_arange_added():
    return tensor(size(), 4, low=-3, high=4, dtype=int) + torch.arange(0, 4, dtype=torch.int64)


@autotest(n=10)
def test_ones_of_a_drawn_shape():
    x = tensor(*shape(3))
    return torch.ones(x.shape) + x
