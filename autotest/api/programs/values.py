"""What a random program knows of its tensors without looking at their elements."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np


class Interval(NamedTuple):
    """The range in which all elements of a tensor lie, ends included."""

    low: float
    high: float

    @property
    def magnitude(self) -> float:
        """The greatest absolute value; NaN where an end is none that can be computed."""
        return max(-self.low, self.high) if self.low <= self.high else math.nan

    def within(self, other: Interval) -> bool:
        """Whether `other` has all of it."""
        return other.low <= self.low and self.high <= other.high

    def joined(self, other: Interval) -> Interval:
        """The least that has both."""
        return Interval(min(self.low, other.low), max(self.high, other.high))


#: Of a tensor of which nothing is known.
ALL: Final = Interval(-math.inf, math.inf)


@dataclass(slots=True)
class Memory:
    """What a tensor and its views share.

    Attributes:
        interval: of the elements.
        kept: autograd may have kept it for the backward, or it may not be written for another reason.
        written: an in-place call has written to it.
    """

    interval: Interval
    kept: bool = False
    written: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """A tensor of a random program (a dual one, whose operators no type checker sees), and the memory that it may share
    with others.
    """

    tensor: Any
    memory: Memory

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes."""
        return tuple(self.tensor.reference.shape)

    @property
    def ndim(self) -> int:
        """How many dimensions."""
        return len(self.shape)

    @property
    def elements(self) -> int:
        """How many elements."""
        return math.prod(self.shape)

    @property
    def dtype(self) -> str:
        """The dtype's name."""
        return str(self.tensor.reference.dtype).removeprefix("torch.")

    @property
    def floating(self) -> bool:
        """Whether it may have a gradient: complex numbers are no operand of these steps."""
        return bool(self.tensor.reference.is_floating_point())

    @property
    def boolean(self) -> bool:
        """Whether it is a mask."""
        return self.dtype == "bool"

    @property
    def integral(self) -> bool:
        """Whether it holds integers; a mask does not."""
        return not (self.floating or self.boolean or self.tensor.reference.is_complex())

    @property
    def interval(self) -> Interval:
        """The range of its elements."""
        return self.memory.interval


def broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape of `a` and `b` together, None where they do not fit: (3, 1) and (4,) give (3, 4)."""
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        return None
