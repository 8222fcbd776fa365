"""As exact as PyTorch: how far a kernel's results are from those in float64, in units of what the inputs' own rounding
moves them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from autotest.kernels.questions import Question
from autotest.oracle.perturbation import Reruns, smallest_normal
from autotest.oracle.spread import Spread
from dual_object.program.values import Array
from dual_object.replay.adapter import Reference
from dual_object.replay.observation import Observation

#: A kernel may be so many units off where half of its elements are, by what it is refused for. Other orders of
#: summation, tiling, Winograd and FFT stay below the first; one that computes in a lower precision is thousands off. Of
#: small and great numbers more is lost lawfully.
MOST_UNITS = {"precision": 100.0, "numerics": 1000.0}
#: Results so small are within any tolerance, and are looked at by themselves where there are at least so many.
SMALL, ENOUGH_SMALL = 1e-6, 6
#: How many times as far off as PyTorch's own results a kernel's may be.
_AS_PYTORCH = 4.0
#: A unit of rounding, half of the distance to the next number, relative to a number.
_UNITS = {"float32": 2.0**-24, "float64": 2.0**-53}


class Rounding:
    """How far results are from those in float64. What PyTorch has to be asked for that is kept for the next kernel of
    the op: it makes most of what a verdict costs.
    """

    def __init__(self, reference: Reference) -> None:
        self._reference = reference
        self._known: dict[Question, dict[int, tuple[Array, Array]]] = {}

    def units(self, question: Question, actual: Observation, most: float = np.inf) -> list[Array]:
        """For each output of float32 or float64 by how many units each finite element is off, where anything defines
        it; of those that are at most so great.
        """
        if question not in self._known:
            self._known[question] = self._measure(question)
        found: list[Array] = []
        for id_, (exact, unit) in self._known[question].items():
            given = actual.outputs.get(id_)
            if given is None or given.data.shape != exact.shape:
                continue
            with np.errstate(all="ignore"):
                off = np.abs(given.data - exact) / unit
            known = np.isfinite(off) & ((exact != 0) | (given.data != 0))
            found.append(off[known & (np.abs(exact) <= most)])
        return found

    def less_exact(
        self, answered: Sequence[tuple[Question, Observation]], most: float, small: float = np.inf
    ) -> tuple[float, float] | None:
        """By how many units half of the results of some answers are off, at least, and by how many they may be: `most`,
        or four times as many as PyTorch's own. None where they are as exact as that. With `small` of results alone that
        are at most so great.
        """
        found = [off for question, answer in answered for off in self.units(question, answer, small)]
        half = off_by(found)
        if half <= most or (small < np.inf and sum(off.size for off in found) < ENOUGH_SMALL):
            return None
        # Of x - tanh(x) at small x nobody asks for digits that PyTorch's own formula loses.
        own = [off for question, _ in answered for off in self.units(question, question.expected, small)]
        most = max(most, _AS_PYTORCH * off_by(own))
        return (half, most) if half > most else None

    def _measure(self, question: Question) -> dict[int, tuple[Array, Array]]:
        """For each such output what it is in float64, and what one unit of its elements is."""
        expected = question.expected.outputs
        outputs = {id_: seen for id_, seen in expected.items() if seen.dtype in _UNITS and seen.data.size}
        program = replace(question.program, cotangents={}, second_cotangents={})
        reruns = Reruns(self._reference, program, several=False)
        if not outputs or reruns.exact is None:
            return {}
        found = {}
        for id_, seen in outputs.items():
            exact = reruns.exact.outputs[id_].data
            near, nearer = ([run.outputs[id_].data for run in runs] for runs in (reruns.near, reruns.nearer))
            with np.errstate(all="ignore"):
                moves = Spread.of(exact, near, nearer, reruns.scale).moves
                # Of what is hardly a number any more, digits are lost lawfully.
                found[id_] = exact, moves / 2 + _UNITS[seen.dtype] * np.abs(exact) + smallest_normal(seen.dtype)
        return found


def off_by(found: Sequence[Array]) -> float:
    """How many units half of all elements are off, at least, of those that are off at all; 0 without any."""
    every = np.concatenate([*found, np.zeros(0)])
    return float(np.median(every)) if every.size else 0.0


__all__ = ["MOST_UNITS", "SMALL", "Rounding", "off_by"]
