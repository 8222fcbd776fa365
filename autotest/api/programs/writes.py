"""Steps that write in place: into a tensor, or through a view into the tensor that it is one of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autotest.api.programs.chain import Chain, Step, bounded
from autotest.api.programs.joins import covers
from autotest.api.programs.pointwise import SMALL, product
from autotest.api.programs.values import ALL, Interval, Value, broadcast

Image = Callable[[Interval], Interval]
#: Where most tensors may not be written, those that may are to be.
OFTEN = 2


def writable(x: Value) -> bool:
    """Whether it may be written: nothing else than the chain's own tensors needs what it holds."""
    return not (x.memory.kept or x.boolean)


def wrote(x: Value, range_: Interval) -> Value:
    """The tensor after a write of elements in a range, of which its views may have some."""
    x.memory.interval = x.interval.joined(range_)
    x.memory.written = True
    return Value(x.tensor, x.memory)


def in_place(
    name: str, image: Image, *args: Any, domain: Interval = ALL, integers: bool = False, keeps: bool = False
) -> Step:
    """A method that writes each element anew, of integers where it can."""

    def takes(chain: Chain, x: Value) -> bool:
        fit = writable(x) and (x.floating or integers) and x.interval.within(domain)
        return fit and bounded(image(x.interval), x)

    def makes(chain: Chain, x: Value) -> Value:
        getattr(x.tensor, name)(*args)
        return wrote(x, image(x.interval))

    return Step(name, takes, makes, keeps, OFTEN)


def in_place_with(name: str, image: Callable[[Interval, Interval], Interval], *, keeps: bool) -> Step:
    """A method that writes what comes of another tensor, too."""

    def fits(x: Value, y: Value) -> bool:
        alike = x.dtype == y.dtype and y.memory is not x.memory
        return alike and broadcast(x.shape, y.shape) == x.shape and bounded(image(x.interval, y.interval), x, y)

    def makes(chain: Chain, x: Value) -> Value:
        y = chain.partner(lambda y: fits(x, y))
        getattr(x.tensor, name)(y.tensor)
        return wrote(x, image(x.interval, y.interval))

    def takes(chain: Chain, x: Value) -> bool:
        return writable(x) and chain.has(lambda y: fits(x, y))

    return Step(f"{name}(y)", takes, makes, keeps, OFTEN)


def _set(chain: Chain, x: Value) -> Value:
    x.tensor[chain.pick((0, -1, slice(1, None), slice(None, None, 2)))] = 0.5 if x.floating else 2
    return wrote(x, Interval(0, 2))


def _masked(chain: Chain, x: Value) -> Value:
    mask = chain.partner(lambda mask: covers(x, mask))
    x.tensor.masked_fill_(mask.tensor, 0.5)
    return wrote(x, Interval(0.5, 0.5))


STEPS = (
    in_place("add_", lambda x: Interval(x.low + 1, x.high + 1), 1, integers=True),
    in_place("mul_", lambda x: product(x, Interval(2, 2)), 2, integers=True),
    in_place("sub_", lambda x: Interval(x.low - 2, x.high - 2), 2, integers=True),
    in_place("zero_", lambda x: Interval(0, 0), integers=True),
    in_place("div_", lambda x: product(x, Interval(0.5, 0.5)), 2),
    in_place("clamp_", lambda x: Interval(-0.5, 0.5), -0.5, 0.5),
    in_place("sin_", lambda x: Interval(-1, 1), domain=SMALL),
    in_place("sigmoid_", lambda x: Interval(0, 1), keeps=True),
    in_place("relu_", lambda x: Interval(max(x.low, 0.0), max(x.high, 0.0)), keeps=True),
    in_place_with("add_", lambda x, y: Interval(x.low + y.low, x.high + y.high), keeps=False),
    in_place_with("mul_", product, keeps=True),
    in_place_with("copy_", lambda x, y: y, keeps=False),
    Step("x[0] = 0.5", lambda chain, x: writable(x) and x.ndim > 0 and x.shape[0] > 0, _set, keeps=False, weight=OFTEN),
    Step(
        "masked_fill_",
        lambda chain, x: writable(x) and x.floating and chain.has(lambda mask: covers(x, mask)),
        _masked,
        weight=OFTEN,
    ),
)
