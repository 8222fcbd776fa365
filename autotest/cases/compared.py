"""What the cases of a test have compared: where that is nothing, the test would pass whatever the target does."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from autotest.cases.case import Case
from autotest.compare.difference import Rules
from autotest.compare.tolerance import tolerance
from dual_object.program.program import Program
from dual_object.program.values import leaves, refs
from dual_object.replay.observation import Observation, Seen


class Compared:
    """Takes in the judged cases of a test, until one of them shows that a fault would have been seen.

    `rules` are those of the test.
    """

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._any = self._called = self._shown = False
        self._greatest, self._atol = 0.0, 0.0

    def take(self, case: Case) -> None:
        """Take in one case."""
        self._any = True
        self._called = self._called or _calls(case.program)
        if self._shown or case.laid_out:  # the corners' values are not those that the test asks for
            return
        if not self._rules.check_allclose or case.program.random is not None:
            self._shown = True  # its values are not what it compares
            return
        for seen in _tensors(case.reference):
            atol = tolerance(seen.dtype, seen.device, self._rules.rtol, self._rules.atol).atol
            if not atol or seen.data.dtype.kind not in "fc":
                self._shown = True
                return
            greatest = float(np.abs(seen.data).max(initial=0.0))
            if not greatest <= atol:  # NaN is none that zero would pass for
                self._shown = True
                return
            if greatest > self._greatest:
                self._greatest, self._atol = greatest, atol

    @property
    def calls_nothing(self) -> bool:
        """Whether there were cases, and none of them called anything."""
        return self._any and not self._called

    @property
    def too_small(self) -> str | None:
        """That all drawn values were below the absolute tolerance, in words; None where they were not, or all are 0."""
        if self._shown or not self._greatest:
            return None
        return (
            f"all values that were drawn and compared are below the absolute tolerance: with atol={self._atol:g} a 0 "
            f"would pass for the greatest, {self._greatest:.3g}; pass rtol= and atol= to @autotest, or draw others"
        )


def _calls(program: Program) -> bool:
    """Whether a body has called anything but for the values of its inputs, which it does not return as they are:
    `numpy.concatenate([x, y])` reads those, and what NumPy makes of them is the same for each target.
    """
    if refs(program.outputs) or any(call.op not in ("detach", "numpy") for call in program.calls):
        return bool(program.calls)
    read = [call.out for call in program.calls if isinstance(call.out, np.ndarray)]
    returned = [leaf for leaf in leaves(program.outputs) if isinstance(leaf, np.ndarray)]
    return any(np.array_equal(one, other) for one in returned for other in read)


def _tensors(observation: Observation) -> Iterator[Seen]:
    for part in (observation.outputs, observation.gradients, observation.buffers):
        for seen in part.values():
            if seen is not None:
                yield seen


__all__ = ["Compared"]
