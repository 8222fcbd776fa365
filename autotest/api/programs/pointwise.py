"""Steps on each element by itself: functions, numbers, comparisons, conversions."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from autotest.api.programs.chain import MOST, Chain, Step, bounded, fresh
from autotest.api.programs.values import ALL, Interval, Value
from dual_object.record.namespace import torch

Image = Callable[[Interval], Interval]

#: The numbers of `x * 2`: those that change nothing, too, which a compiler may leave out.
NUMBERS: tuple[int | float, ...] = (1, 2, 0, -1, 0.5, 1.0, 3)
SMALL = Interval(-MOST, MOST)
POSITIVE = Interval(0.25, math.inf)


def rising(function: Callable[[float], float]) -> Image:
    """The range of a function that never falls."""
    return lambda x: Interval(function(x.low), function(x.high))


def within(low: float, high: float) -> Image:
    """A range that does not depend on the operand's."""
    return lambda x: Interval(low, high)


def absolute(x: Interval) -> Interval:
    """The range of absolute values."""
    return Interval(0.0 if x.low <= 0 <= x.high else min(abs(x.low), abs(x.high)), x.magnitude)


def squared(x: Interval) -> Interval:
    """The range of squares."""
    low, high = absolute(x)
    return Interval(low * low, high * high)


def inverted(x: Interval) -> Interval:
    """The range of 1 / x, where x keeps away from 0."""
    return Interval(1 / x.high, 1 / x.low)


def product(x: Interval, y: Interval) -> Interval:
    """The range of x * y."""
    corners = [a * b for a in x for b in y]
    return Interval(math.nan, math.nan) if any(map(math.isnan, corners)) else Interval(min(corners), max(corners))


def of_floats(path: str, image: Image, domain: Interval = ALL) -> Step:
    """A function of a floating tensor whose elements lie in `domain`."""

    def takes(chain: Chain, x: Value) -> bool:
        return x.floating and x.interval.within(domain) and bounded(image(x.interval), x)

    def make(chain: Chain, x: Value) -> Value:
        return fresh(operator.attrgetter(path)(torch)(x.tensor), image(x.interval))

    return Step(path, takes, make)


def with_number(
    name: str,
    call: Callable[[Any, Any], Any],
    image: Callable[[Interval, float], Interval],
    numbers: Sequence[int | float] = NUMBERS,
) -> Step:
    """An operator on a tensor and one of some numbers, with which dtypes are promoted. Masks have no `-`."""

    def allowed(x: Value) -> list[int | float]:
        return [n for n in numbers if bounded(image(x.interval, n), x)]

    def takes(chain: Chain, x: Value) -> bool:
        return not (x.boolean and "-" in name) and bool(allowed(x))

    def make(chain: Chain, x: Value) -> Value:
        number = chain.pick(allowed(x))
        return fresh(call(x.tensor, number), image(x.interval, number))

    return Step(name, takes, make, keeps=False)


def _greater(chain: Chain, x: Value) -> Value:
    return fresh(x.tensor > chain.pick((0.25, -0.5, 1)), Interval(0, 1))


def _convertible(chain: Chain, x: Value) -> bool:
    return x.integral or x.dtype in ("bool", "float64")


def _converted(chain: Chain, x: Value) -> Value:
    # Never to its own dtype, for the result would be the tensor itself, and never from float32 to float64: a float64
    # that has float32's rounding errors would be compared as one that has none.
    to = "float32" if x.floating else chain.pick(("float32", "float64"))
    return fresh(x.tensor.to(getattr(torch, to)), x.interval)


def _clamped(chain: Chain, x: Value) -> Value:
    low, high = chain.pick(((-0.5, 0.5), (0.25, 2.0), (-1.0, 1.0)))
    return fresh(torch.clamp(x.tensor, low, high), Interval(low, high))


def _inverted_mask(chain: Chain, x: Value) -> Value:
    return fresh(~x.tensor, Interval(0, 1))


STEPS = (
    with_number("x * 2", operator.mul, lambda x, n: product(x, Interval(n, n))),
    with_number("x + 2", operator.add, lambda x, n: Interval(x.low + n, x.high + n)),
    with_number("x - 2", operator.sub, lambda x, n: Interval(x.low - n, x.high - n)),
    with_number("2 - x", lambda x, n: n - x, lambda x, n: Interval(n - x.high, n - x.low)),
    with_number("x / 2", operator.truediv, lambda x, n: product(x, Interval(1 / n, 1 / n)), (1, 2, -1, 0.5)),
    of_floats("neg", lambda x: Interval(-x.high, -x.low)),
    of_floats("abs", absolute),
    of_floats("square", squared),
    of_floats("relu", rising(lambda x: max(x, 0.0))),
    of_floats("tanh", rising(math.tanh)),
    of_floats("sigmoid", rising(lambda x: 0.5 + 0.5 * math.tanh(x / 2))),
    of_floats("sin", within(-1, 1), SMALL),
    of_floats("cos", within(-1, 1), SMALL),
    of_floats("atan", rising(math.atan)),
    of_floats("erf", rising(math.erf)),
    of_floats("exp", rising(math.exp), Interval(-MOST, 2)),
    of_floats("sqrt", rising(math.sqrt), POSITIVE),
    of_floats("rsqrt", lambda x: Interval(x.high**-0.5, x.low**-0.5), POSITIVE),
    of_floats("log", rising(math.log), POSITIVE),
    of_floats("reciprocal", inverted, POSITIVE),
    of_floats("nn.functional.gelu", lambda x: Interval(-0.2, max(x.high, 0.0)), SMALL),
    of_floats("nn.functional.silu", lambda x: Interval(-0.3, max(x.high, 0.0)), SMALL),
    of_floats("nn.functional.softplus", rising(lambda x: math.log1p(math.exp(x))), SMALL),
    of_floats("nn.functional.relu6", rising(lambda x: min(max(x, 0.0), 6.0))),
    of_floats("nn.functional.elu", lambda x: Interval(-1.0, max(x.high, 0.0))),
    Step("clamp", lambda chain, x: x.floating, _clamped),
    Step("x > 0.25", lambda chain, x: x.floating, _greater, keeps=False, weight=3),
    Step("to", _convertible, _converted, keeps=False),
    Step("~x", lambda chain, x: x.boolean, _inverted_mask, keeps=False),
)
