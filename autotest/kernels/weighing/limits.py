"""Infinities: where PyTorch gives NaN, and a kernel gives what great numbers come to that stand for them.

The median of two infinities is NaN in PyTorch, which computes `a + (b - a) / 2`; who computes `a / 2 + b / 2` gets
infinity, and so it should be: that of 1e100 and 1e120 is a great number. The difference of two infinities is NaN for
everybody: that of 1e100 and 1e120 has one sign, and that of 1e120 and 1e100 the other.
"""

from __future__ import annotations

import numpy as np

from autotest.compare.difference import Difference
from autotest.compare.values import agreeing, wide
from autotest.oracle.perturbation import compared_array
from dual_object.errors import CannotWiden
from dual_object.program.precision import widened
from dual_object.program.program import Program
from dual_object.program.values import Array
from dual_object.replay.adapter import Reference
from dual_object.replay.replay import QuietReplay

#: Runs, in each of which other numbers stand for the infinities.
_RUNS = 4
#: What stands for an infinity is ten to a power between these, what stands for zero ten to minus half of such a power;
#: what is greater than `_GREAT` comes of an infinity.
_LEAST, _MOST, _GREAT = 100.0, 140.0, 1e45


def at_the_limit(reference: Reference, program: Program, difference: Difference) -> bool:
    """Whether all that differs is NaN in PyTorch, and always what the kernel gives where great numbers stand for the
    infinities among the inputs, and small ones for zeros.
    """
    mismatch = difference.mismatch
    given = [x.data for x in program.inputs if x.data.dtype.kind in "fc"]
    if mismatch is None or not any(np.isinf(data).any() for data in given):
        return False
    expected, actual = wide(mismatch.expected), wide(mismatch.actual)
    wrong = mismatch.mask
    if expected.dtype.kind not in "fc" or not np.isnan(expected[wrong]).all() or np.isnan(actual[wrong]).any():
        return False
    for seed in range(_RUNS):
        found = _with_great_numbers(reference, program, difference, seed)
        if found is None or found.shape != expected.shape:
            return False
        with np.errstate(all="ignore"):
            reached = agreeing(_limit(found), actual, mismatch.allowed._replace(signed=False))
        if not reached[wrong].all():
            return False
    return True


def _with_great_numbers(reference: Reference, program: Program, difference: Difference, seed: int) -> Array | None:
    random = np.random.Generator(np.random.Philox(seed))

    def stand_in(values: Array) -> Array:
        great = np.sign(values) * 10 ** random.uniform(_LEAST, _MOST, values.shape)
        small = random.choice([-1.0, 1.0], values.shape) * 10 ** -random.uniform(_LEAST / 2, _MOST / 2, values.shape)
        return np.where(np.isinf(values), great, np.where(values == 0, small, values))

    def changed(values: Array, dtype: str) -> Array:
        if values.dtype.kind == "c":
            return np.asarray(stand_in(values.real) + 1j * stand_in(values.imag))
        return np.asarray(stand_in(values))

    try:
        wider = widened(program, changed)
    except CannotWiden:
        return None
    with reference.default_dtype("float64"), np.errstate(all="ignore"):
        run = QuietReplay(reference, wider, side="reference").run()
    return None if run.ended else compared_array(program, run, difference)


def _limit(values: Array) -> Array:
    """Infinities for what comes of great numbers, part by part of complex ones."""
    if values.dtype.kind == "c":
        limit = np.empty_like(values)
        limit.real, limit.imag = _limit(values.real), _limit(values.imag)
        return limit
    return np.where(np.abs(values) > _GREAT, np.sign(values) * np.inf, values)


__all__ = ["at_the_limit"]
