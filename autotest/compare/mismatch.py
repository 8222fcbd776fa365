"""A Mismatch: two arrays of one shape, and the elements in which they do not agree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from autotest.compare.tolerance import Tolerance
from autotest.compare.values import agreeing, short, wide, zeros_apart
from dual_object.program.values import Array


@dataclass(frozen=True, eq=False)
class Mismatch:
    """Two arrays of one shape, the tolerance between them, and the mask of the elements that do not agree, which is
    worked out once.
    """

    expected: Array
    actual: Array
    allowed: Tolerance
    mask: Array

    @classmethod
    def of(cls, expected: Array, actual: Array, allowed: Tolerance) -> Mismatch:
        """That of two arrays, whether they agree or not."""
        return cls(expected, actual, allowed, np.asarray(~agreeing(expected, actual, allowed)))

    @classmethod
    def between(cls, expected: Array, actual: Array, allowed: Tolerance) -> Mismatch | None:
        """That of two arrays which do not agree; None where they do, as the same bytes do at once."""
        if expected.dtype == actual.dtype and expected.tobytes() == actual.tobytes():
            return None
        agree = agreeing(expected, actual, allowed)
        return None if agree.all() else cls(expected, actual, allowed, np.asarray(~agree))

    @cached_property
    def beyond(self) -> Array:
        """The elements that are farther apart than the tolerance: not zeros that differ in their sign alone."""
        if not self.allowed.signed:
            return self.mask
        return np.asarray(self.mask & ~((self.expected == 0) & (self.actual == 0)))

    @property
    def count(self) -> int:
        """How many elements do not agree."""
        return int(self.mask.sum())

    @cached_property
    def kind(self) -> str:
        """`nonfinite`, `sign` or `value`."""
        left, right = wide(self.expected), wide(self.actual)
        if (self.mask & _nonfinite_apart(left, right)).any():
            return "nonfinite"
        if (self.mask & _infinities_apart(left, right)).any():
            return "sign"
        return "sign" if self.allowed.signed and zeros_apart(left, right)[self.mask].all() else "value"

    @property
    def words(self) -> str:
        """`differs in 1 of 2 elements: [1] is 2.5, but should be 2.0`, of the worst element."""
        [first] = self.worst(1)
        at = f"[{', '.join(map(str, first))}]" if first else "it"
        plural = "element" if self.mask.size == 1 else "elements"
        words = (
            f"differs in {self.count} of {self.mask.size} {plural}: {at} is {short(self.actual[first])!r}, "
            f"but should be {short(self.expected[first])!r}"
        )
        if self.kind == "value" and self.expected.dtype.kind == "f":
            words += f" (rtol={self.allowed.rtol:g}, atol={self.allowed.atol:g})"
        return words

    def worst(self, most: int) -> list[tuple[int, ...]]:
        """The indices of at most `most` elements that do not agree, by how far beyond the tolerance they are."""
        left, right = wide(self.expected), wide(self.actual)
        finite = np.isfinite(left) & np.isfinite(right)
        with np.errstate(invalid="ignore", over="ignore"):
            error = np.where(finite, np.abs(right - left), np.inf)
            # Where nothing is allowed, any error is infinitely beyond it: the tiny number keeps their order.
            beyond = error / (self.allowed.atol + self.allowed.rtol * np.abs(np.where(finite, left, 0)) + 1e-300)
        order = np.argsort(np.where(self.mask, -beyond, 1.0), axis=None, kind="stable")[: min(most, self.count)]
        return [
            tuple(int(i) for i in np.unravel_index(flat, self.mask.shape)) if self.mask.ndim else () for flat in order
        ]

    def absolute(self, index: tuple[int, ...]) -> Any:
        """How far an element is off; NaN where it is not finite on one side."""
        expected, actual = short(self.expected[index]), short(self.actual[index])
        return abs(actual - expected) if np.isfinite(expected) and np.isfinite(actual) else math.nan

    def relative(self, index: tuple[int, ...]) -> float:
        """As a share of what should be there; NaN where the element is not finite on one side."""
        size, error = abs(short(self.expected[index])), self.absolute(index)
        if size:
            return float(error / size)
        return error * math.inf if error else 0.0


def _nonfinite_apart(left: Array, right: Array) -> Array:
    """Where only one side is NaN, or only one finite; of complex numbers, in one of their parts."""
    if left.dtype.kind == "c" or right.dtype.kind == "c":
        return _nonfinite_apart(left.real, right.real) | _nonfinite_apart(left.imag, right.imag)
    apart: Array = (np.isnan(left) != np.isnan(right)) | (np.isfinite(left) != np.isfinite(right))
    return apart


def _infinities_apart(left: Array, right: Array) -> Array:
    """Where both are infinite, of opposite signs; of complex numbers, in one of their parts."""
    if left.dtype.kind == "c" or right.dtype.kind == "c":
        return _infinities_apart(left.real, right.real) | _infinities_apart(left.imag, right.imag)
    apart: Array = np.isinf(left) & np.isinf(right) & (left != right)
    return apart
