"""Overflow: what leaves its dtype's range on the way to a result, in the reference or in another order of its sums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from autotest.compare.difference import Difference
from autotest.compare.values import wide
from autotest.oracle.op_kinds import (
    adds,
    averages,
    interpolates,
    multiplies,
    normalises,
    roots,
    sums,
    sums_from_scratch,
)
from autotest.oracle.perturbation import Reruns, compared_arrays, greatest
from dual_object.program.calls import Call
from dual_object.program.values import Array
from dual_object.replay.observation import Observation

#: As a share of a number: two of its digits.
_FIRST_DIGITS = 0.01
#: As much more than itself a number may have been before it was rounded.
_ROUNDED = 1 + 1e-6


def bounded(exact: Array, most: float) -> Array:
    """A float64 result where it is float64's own greatest number, such as `nan_to_num` makes of an infinity: what it
    stands for in a dtype whose greatest number is `most`.
    """
    if exact.dtype.kind != "f":
        return exact
    return np.where(np.abs(exact) == np.finfo(np.float64).max, np.copysign(most, exact), exact)


@dataclass(frozen=True, slots=True)
class Overflow:
    """A difference that overflow may explain: `call` is the one that diverges, if one does; `names` are the plain names
    of it, or of all calls. What is `rewritten` from scratch may overflow where the reference does not.
    """

    reruns: Reruns
    difference: Difference
    call: Call | None
    names: tuple[str, ...]
    expected: Array
    actual: Array
    rewritten: bool

    def in_reference(self, exact: Array, hits: Array) -> Array:
        """Where the reference leaves its dtype's range on the way to what is within it; of what is left of numbers as
        great as that, only the first digits are asked for, and a share of what has overflowed is 0. Where the reference
        gives no number at all, what is rewritten may give any.
        """
        fits = np.isfinite(exact) & (np.abs(exact) <= self._greatest)
        near = hits | (np.abs(wide(self.actual) - exact) <= _FIRST_DIGITS * np.abs(exact))
        share = np.asarray(self.rewritten & ((self.actual == 0) | np.isnan(self.expected)))
        return np.asarray(~np.isfinite(self.expected) & fits & (near | ~np.isfinite(self.actual) | share))

    def otherwise(self, exact: Array) -> Array:
        """Where another order of a sum leaves the dtype's range."""
        reached = np.abs(exact)
        for total in self._arrays(self.reruns.absolute):
            reached = np.fmax(reached, np.abs(bounded(total, self._greatest)))
        # A sum may be scaled, as by `alpha` of `addmm`, before it is added up or afterwards.
        beyond = self._beyond(reached * self._scale())
        overflowing = np.isfinite(self.expected) & ~np.isfinite(self.actual) & beyond
        if self.rewritten and self._any(sums_from_scratch):
            # What no number of the dtype is: infinity says so, and so does NaN, as of a difference of such.
            none = np.isfinite(exact) & (np.abs(exact) > self._greatest)
            overflowing |= np.isnan(self.actual) & ~np.isfinite(self.expected) & none
        if self.rewritten and self._any(roots):
            overflowing |= self._below_root(exact)
        if self._any(sums) or self._any(adds):
            # Infinity and what overflows to the other infinity on the way are NaN.
            most = max((x.data.size for x in self.reruns.program.inputs), default=1) if self._any(averages) else 1
            for finite in self._arrays(self.reruns.absolute_finite):
                beyond = self._beyond(np.abs(finite) * most)
                overflowing |= np.isinf(exact) & ~np.isfinite(self.expected) & np.isnan(self.actual) & beyond
        if self.rewritten and self._any(interpolates):
            # `a + w * (b - a)` is NaN from an infinity on, where `b - (1 - w) * (b - a)` is infinite.
            overflowing |= np.isinf(exact) & np.isinf(self.expected) & np.isnan(self.actual)
        if self.rewritten and self._any(multiplies):
            # A zero that comes after what overflows on the way makes NaN of it, one that comes before does not.
            for product in self._arrays(self.reruns.factors):
                beyond = ~(np.abs(product) * _ROUNDED <= self._greatest)
                overflowing |= ~np.isfinite(self.actual) & beyond
        return np.asarray(overflowing)

    def infinitely_scaled(self) -> Array:
        """Where infinity stands for NaN because a normalised element times infinity is infinite: PyTorch's own layers
        scale some before and some after they subtract the mean, which gives NaN.
        """
        scaled = self.rewritten and self._any(normalises)
        infinite = scaled and any(np.isinf(x.data).any() for x in self.reruns.program.inputs[1:])
        return np.asarray(infinite & np.isnan(self.expected) & np.isinf(self.actual))

    def _below_root(self, exact: Array) -> Array:
        """Where what the root is taken of is beyond the range, as PyTorch's own variance of such numbers is: infinity,
        and as a gradient a share of it.
        """
        if self.difference.part != "gradient":
            return np.isinf(self.actual) & self._beyond(np.square(exact))
        assert self.reruns.exact is not None
        results = [output.data for output in self.reruns.exact.outputs.values() if output.data.dtype.kind in "fc"]
        beyond = any(self._beyond(np.square(result)).any() for result in results)
        return np.asarray(beyond & ((self.actual == 0) | ~np.isfinite(self.actual)))

    def _scale(self) -> float:
        """By how many times a plain number that the call is given makes its result less than what it was, at most."""
        if not self.rewritten or self.call is None or not self._any(sums_from_scratch):
            return 1.0
        given = [*self.call.args, *self.call.kwargs.values()]
        return max((1 / abs(x) for x in given if isinstance(x, float) and 0 < abs(x) < 1), default=1.0)

    def _any(self, kind: Callable[[str], bool]) -> bool:
        return any(map(kind, self.names))

    def _beyond(self, reached: Array) -> Array:
        # What is the greatest number itself was never rounded.
        return np.asarray((reached * _ROUNDED > self._greatest) & (reached != self._greatest))

    @property
    def _greatest(self) -> float:
        assert self.difference.expected is not None
        return greatest(self.difference.expected.dtype)

    def _arrays(self, run: Observation | None) -> list[Array]:
        """What a run shows of the difference, where there is such a run."""
        if run is None:
            return []
        return compared_arrays(self.reruns.program, [run], self.difference, self.expected.shape)
