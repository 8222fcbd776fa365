"""As exact as PyTorch: how far a kernel's results are from those in float64, in units of what the inputs' own rounding
moves them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from autotest.kernels.questions import Question
from autotest.oracle.perturbation import smallest_normal
from dual_object.errors import CannotWiden
from dual_object.program.precision import widened
from dual_object.program.program import Program
from dual_object.program.values import Array
from dual_object.replay.adapter import Reference
from dual_object.replay.observation import Observation
from dual_object.replay.replay import QuietReplay

#: A kernel may be so many units off where half of its elements are, by what it is refused for. Other orders of
#: summation, tiling, Winograd and FFT stay below the first; one that computes in a lower precision is thousands off. Of
#: small and great numbers more is lost lawfully.
MOST_UNITS = {"precision": 100.0, "numerics": 1000.0}
#: So many runs on inputs that are nudged by a unit of their rounding.
NUDGES = 6
#: Units of rounding, relative to a number.
_UNITS = {"float32": 2.0**-24, "float64": 2.0**-53}


def units(reference: Reference, question: Question, actual: Observation) -> list[Array]:
    """For each output of float32 or float64 by how many units each finite element is off, where anything defines it."""
    outputs = {
        id_: seen
        for id_, seen in question.expected.outputs.items()
        if seen.dtype in _UNITS and seen.data.size and id_ in actual.outputs
    }
    if not outputs:
        return []
    forward = dataclasses.replace(question.program, cotangents={}, second_cotangents={})
    exact = _exact(reference, forward)
    if exact is None:
        return []
    dtype = next(iter(outputs.values())).dtype
    nudged = [_exact(reference, _nudged(forward, _UNITS[dtype], seed)) for seed in range(NUDGES)]
    found: list[Array] = []
    for id_, seen in outputs.items():
        wanted = exact.outputs[id_].data.astype(np.float64)
        runs = [run.outputs[id_].data for run in nudged if run is not None and id_ in run.outputs]
        given = actual.outputs[id_].data.astype(np.float64)
        if given.shape != wanted.shape:
            continue
        with np.errstate(all="ignore"):
            moves = np.max([np.abs(run - wanted) for run in runs], axis=0) if runs else np.zeros(wanted.shape)
            # Of what is hardly a number any more, digits are lost lawfully.
            unit = moves + _UNITS[seen.dtype] * np.abs(wanted) + smallest_normal(seen.dtype)
            off = np.abs(given - wanted) / unit
        found.append(off[np.isfinite(off) & ((wanted != 0) | (given != 0))])
    return found


def _exact(reference: Reference, program: Program) -> Observation | None:
    try:
        wide = widened(program)
    except CannotWiden:
        return None
    with reference.default_dtype("float64"):
        seen = QuietReplay(reference, wide, side="reference").run()
    return None if seen.ended else seen


def _nudged(program: Program, unit: float, seed: int) -> Program:
    """The Program with each floating element moved by up to four units of its rounding."""
    chance = np.random.Generator(np.random.Philox(seed))
    inputs = []
    for x in program.inputs:
        data = x.data
        if data.dtype.kind == "f":
            moved = data.astype(np.float64) * (1 + 4 * unit * chance.choice([-1.0, 1.0], data.shape))
            x = dataclasses.replace(x, data=moved, dtype="float64")
        inputs.append(x)
    return dataclasses.replace(program, inputs=inputs)


def off_by(found: Sequence[Array]) -> float:
    """How many units half of all elements are off, at least, of those that are off at all; 0 without any."""
    every = np.concatenate([*found, np.zeros(0)])
    return float(np.median(every)) if every.size else 0.0


__all__ = ["MOST_UNITS", "off_by", "units"]
