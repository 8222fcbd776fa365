"""A chain of calls in the making: each step takes a tensor of those before, and a call that fits it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from autotest.api.programs.values import Interval, Memory, Value, broadcast
from dual_object.record.dual import DualObject
from generators.source import PhiloxSource, Source

T = TypeVar("T")

#: A draw from so many numbers is no factor of a design: the corners of a test are those of its tensors.
SEEDS: Final = 1 << 32
#: A search never draws the first of the two; a shrinker, which ignores weights, prefers it.
ALWAYS: Final = (0.0, 1.0)
#: How many values an operand goes back at most.
BACK: Final = 12
#: Results beyond are not made of operands within: the sine of 2 ** 30 is nothing but its operand's rounding error.
MOST: Final = 8.0
#: Results of more elements, or dimensions, are not made: a program is to be read.
MOST_ELEMENTS: Final = 128
MOST_DIMENSIONS: Final = 4


class Chain:
    """The values of one random program, the latest last.

    Each step takes two decisions of `source`: whether it is made at all, and a seed, which all else of it follows. So a
    shrinker can leave it out without changing the others, but for those that need its result.
    """

    def __init__(self, source: Source, values: Sequence[Value] = ()) -> None:
        """Starts from some values."""
        self._source = source
        self._taken: set[Value] = set()
        self._operands: list[Value] = []
        self._draws = source
        self.values = [*values]

    def seed(self) -> None:
        """Let the draws that come follow a new seed."""
        self._draws = PhiloxSource(str(self._source.integer(0, SEEDS)))

    def grow(self, steps: Sequence[Step]) -> None:
        """Make one call, of one of the `steps`; one of them takes any value."""
        made = self._source.index(2, ALWAYS)
        self.seed()
        if made:
            self._grow(steps)

    def _grow(self, steps: Sequence[Step]) -> None:
        value = self._recent(self.values)
        step = next(step for step in iter(lambda: self.pick(steps), None) if step.takes(self, value))
        self._operands = [value]
        made = step.make(self, value)
        self._taken.update(self._operands)
        if step.keeps:
            for touched in (*self._operands, made):
                touched.memory.kept = True
        self.values.append(made)

    def results(self) -> tuple[DualObject, ...]:
        """What no call has taken, and what was written in place, each tensor once."""
        left = (value for value in self.values if value not in self._taken or value.memory.written)
        return tuple(dict.fromkeys(value.tensor for value in left))

    def below(self, count: int) -> int:
        """One of 0 ... count - 1."""
        return self._draws.integer(0, count)

    def pick(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[self.below(len(items))]

    def axis(self, value: Value) -> int:
        """One of the dimensions of a tensor that has some, counted from its start or its end."""
        return self.below(2 * value.ndim) - value.ndim

    def partner(self, fits: Callable[[Value], bool]) -> Value:
        """A second operand that fits; there must be one."""
        partner = self._recent([value for value in self.values if fits(value)])
        self._operands.append(partner)
        return partner

    def has(self, fits: Callable[[Value], bool]) -> bool:
        """Whether there is such a second operand."""
        return any(fits(value) for value in self.values)

    def _recent(self, values: Sequence[Value]) -> Value:
        """One of the values: every second time the latest, else one of those before, the first one where it would be
        none.
        """
        back = max(self.below(2 * BACK) - BACK, 0)
        return values[max(len(values) - 1 - back, 0)]


@dataclass(frozen=True, slots=True)
class Step:
    """One kind of call.

    Attributes:
        name: what it calls, for people.
        takes: whether a value can be its first operand.
        make: draws the other arguments, makes the call and gives its result.
        keeps: autograd may keep its operands or its result for the backward.
        weight: how many other steps it is as probable as.
    """

    name: str
    takes: Callable[[Chain, Value], bool]
    make: Callable[[Chain, Value], Value]
    keeps: bool = True
    weight: int = 1


def fresh(tensor: Any, interval: Interval) -> Value:
    """A result with memory of its own."""
    return Value(tensor, Memory(interval))


def bounded(interval: Interval, *operands: Value) -> bool:
    """Whether a result may have this range: it is no wider than it should be, or than its operands are."""
    return interval.magnitude <= max(MOST, *(operand.interval.magnitude for operand in operands))


def small(shape: tuple[int, ...] | None) -> bool:
    """Whether a result may have this shape; None is none."""
    return shape is not None and len(shape) <= MOST_DIMENSIONS and math.prod(shape) <= MOST_ELEMENTS


def together(a: Value, b: Value) -> bool:
    """Whether the two broadcast to a shape that a result may have."""
    return small(broadcast(a.shape, b.shape))
