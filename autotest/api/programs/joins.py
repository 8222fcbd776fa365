"""Steps that take a second tensor: arithmetic with broadcasting, choices by a mask, matrix products, joins."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from autotest.api.programs.chain import Chain, Step, bounded, fresh, small, together
from autotest.api.programs.pointwise import POSITIVE, inverted, product
from autotest.api.programs.values import Interval, Value, broadcast
from dual_object.record.namespace import torch

Fits = Callable[[Value, Value], bool]
Image = Callable[[Interval, Interval], Interval]


def pair(name: str, call: Callable[[Any, Any], Any], image: Image, fits: Fits, *, keeps: bool = True) -> Step:
    """A call of two tensors that fit together."""

    def partners(x: Value) -> Callable[[Value], bool]:
        return lambda y: fits(x, y) and bounded(image(x.interval, y.interval), x, y)

    def makes(chain: Chain, x: Value) -> Value:
        y = chain.partner(partners(x))
        return fresh(call(x.tensor, y.tensor), image(x.interval, y.interval))

    return Step(name, lambda chain, x: chain.has(partners(x)), makes, keeps)


def numbers(x: Value, y: Value) -> bool:
    """Two tensors of numbers that broadcast, whose dtypes may be promoted."""
    return not (x.boolean or y.boolean) and together(x, y) and precise(x, y)


def floats(x: Value, y: Value) -> bool:
    """Two floating tensors that broadcast."""
    return x.floating and y.floating and together(x, y) and precise(x, y)


def precise(x: Value, y: Value) -> bool:
    """Whether the result has no more digits than either: a float64 that has float32's rounding errors would be compared
    as one that has none. A float32 of shape (3,) and a float64 of shape () give a float32.
    """
    if not (x.floating and y.floating) or x.dtype == y.dtype:
        return True
    few, many = (x, y) if x.dtype == "float32" else (y, x)
    return (few.dtype, many.dtype) == ("float32", "float64") and few.ndim > 0 and many.ndim == 0


def masks(x: Value, y: Value) -> bool:
    """Two masks that broadcast."""
    return x.boolean and y.boolean and together(x, y)


def divides(x: Value, y: Value) -> bool:
    """Two floating tensors that broadcast, of which the second one keeps away from 0."""
    return floats(x, y) and y.interval.within(POSITIVE)


def matrices(x: Value, y: Value) -> bool:
    """Two tensors of one floating dtype that have a matrix product, with which few others have one."""
    alike = x.floating and x.dtype == y.dtype and x.ndim > 1 and y.ndim == 2
    return alike and x.shape[-1] == y.shape[0] and small((*x.shape[:-1], y.shape[1]))


def _product_of_matrices(chain: Chain, x: Value) -> Value:
    y = chain.partner(lambda y: _may_multiply(x, y))
    return fresh(torch.matmul(x.tensor, y.tensor), _dot(x, y))


def _may_multiply(x: Value, y: Value) -> bool:
    return matrices(x, y) and bounded(_dot(x, y), x, y)


def _dot(x: Value, y: Value) -> Interval:
    low, high = product(x.interval, y.interval)
    return Interval(low * y.shape[0], high * y.shape[0])


def _alike(x: Value, y: Value) -> bool:
    return x.shape == y.shape and x.dtype == y.dtype and small((2, *x.shape))


def joined(name: str, takes: Callable[[Value], bool], call: Callable[[Chain, Value, Sequence[Any]], Any]) -> Step:
    """A call that joins two tensors of one shape and dtype."""

    def makes(chain: Chain, x: Value) -> Value:
        y = chain.partner(lambda y: _alike(x, y))
        return fresh(call(chain, x, [x.tensor, y.tensor]), x.interval.joined(y.interval))

    return Step(name, lambda chain, x: takes(x) and chain.has(lambda y: _alike(x, y)), makes, keeps=False)


def covers(x: Value, mask: Value) -> bool:
    """Whether `mask` is one that broadcasts to the shape of `x`."""
    return mask.boolean and broadcast(x.shape, mask.shape) == x.shape


def _covered(chain: Chain, x: Value) -> bool:
    return x.floating and small(x.shape) and chain.has(lambda mask: covers(x, mask))


def _chosen(chain: Chain, x: Value) -> Value:
    mask = chain.partner(lambda mask: covers(x, mask))
    y = chain.partner(lambda y: floats(x, y) and x.dtype == y.dtype)
    return fresh(torch.where(mask.tensor, x.tensor, y.tensor), x.interval.joined(y.interval))


def _filled(chain: Chain, x: Value) -> Value:
    mask = chain.partner(lambda mask: covers(x, mask))
    number = chain.pick((0.5, 0.0, -1.0))
    return fresh(x.tensor.masked_fill(mask.tensor, number), x.interval.joined(Interval(number, number)))


def _greatest(x: Interval, y: Interval) -> Interval:
    return Interval(max(x.low, y.low), max(x.high, y.high))


def _least(x: Interval, y: Interval) -> Interval:
    return Interval(min(x.low, y.low), min(x.high, y.high))


STEPS = (
    pair("x + y", operator.add, lambda x, y: Interval(x.low + y.low, x.high + y.high), numbers, keeps=False),
    pair("x - y", operator.sub, lambda x, y: Interval(x.low - y.high, x.high - y.low), numbers, keeps=False),
    pair("x * y", operator.mul, product, numbers),
    pair("x / y", operator.truediv, lambda x, y: product(x, inverted(y)), divides),
    pair("maximum", lambda x, y: torch.maximum(x, y), _greatest, floats),
    pair("minimum", lambda x, y: torch.minimum(x, y), _least, floats),
    pair("x & y", operator.and_, lambda x, y: Interval(0, 1), masks, keeps=False),
    Step("where", _covered, _chosen, weight=6),
    Step("masked_fill", _covered, _filled, weight=3),
    Step("matmul", lambda chain, x: chain.has(lambda y: _may_multiply(x, y)), _product_of_matrices, weight=6),
    joined("cat", lambda x: x.ndim > 0, lambda chain, x, both: torch.cat(both, chain.axis(x))),
    joined("stack", lambda x: x.ndim < 4, lambda chain, x, both: torch.stack(both, chain.below(x.ndim + 1))),
)
