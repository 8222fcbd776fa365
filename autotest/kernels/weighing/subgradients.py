"""Gradients where a function has a kink: of what PyTorch computes element by element, not any is as good as another.

"Gradients for non-differentiable functions" of its notes on autograd says that of all gradients that are near, the
least is taken: that of `relu` is 0 at 0. What a function with its cases written otherwise has is the gradient of
another side, here 1, which is lawful. What neither side has, here 1/2, is what `maximum` shares out among two tensors:
no gradient of an op that has one. Which of several equal elements is chosen, as by `max`, is promised by nobody, and
so are kinks of two tensors.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autotest.compare.difference import Difference
from autotest.compare.values import agreeing, wide
from autotest.oracle.perturbation import Reruns, compared_array
from dual_object.program.calls import Input
from dual_object.program.program import Program
from dual_object.program.values import Array
from dual_object.replay.adapter import Reference
from dual_object.replay.observation import Observation
from dual_object.replay.replay import QuietReplay

#: Runs in which about half of the elements stay what they are: an element that ties with another one is in most of
#: them alone.
_APART = 8


def promised(reference: Reference, program: Program, difference: Difference) -> Array | None:
    """Where a first gradient that differs is of no side, and should be PyTorch's; None where it is so nowhere."""
    mismatch = difference.mismatch
    inputs = [x for x in program.inputs if x.requires_grad]
    if difference.part != "gradient" or mismatch is None or len(inputs) != 1 or str(inputs[0].id) != difference.key:
        return None
    expected, actual = wide(mismatch.expected), wide(mismatch.actual)
    if expected.dtype.kind != "f" or expected.shape != inputs[0].data.shape:
        return None
    reruns = Reruns(reference, program, several=False)
    near = _arrays(program, [*reruns.near, *reruns.nearer], difference, expected)
    if not near:
        return None
    with np.errstate(all="ignore"):
        low, high = np.fmin.reduce([expected, *near]), np.fmax.reduce([expected, *near])
        least = np.clip(0.0, low, high)
        known = mismatch.beyond & np.isfinite(expected) & np.isfinite(actual)
        allowed = mismatch.allowed._replace(signed=False)
        known &= agreeing(least, expected, allowed)
        known &= ~agreeing(low, high, allowed)  # else no run came to the other side
        known &= ~agreeing(low, actual, allowed) & ~agreeing(high, actual, allowed)
    for seed in range(_APART):
        if not known.any():
            return None
        kept = np.random.Generator(np.random.Philox(seed)).random(expected.shape) < 0.5
        run = QuietReplay(reference, _among_others(program, inputs[0], kept, seed), side="reference").run()
        found = _arrays(program, [run], difference, expected)
        if not found:
            return None
        known &= ~kept | agreeing(expected, found[0], allowed)
    return np.asarray(known)


def _arrays(program: Program, runs: list[Observation], difference: Difference, like: Array) -> list[Array]:
    arrays = [compared_array(program, run, difference) for run in runs]
    return [array for array in arrays if array is not None and array.shape == like.shape]


def _among_others(program: Program, given: Input, kept: Array, seed: int) -> Program:
    """The Program with other numbers where an element is not kept: some greater, some less."""
    away = np.random.Generator(np.random.Philox(100 + seed)).uniform(-4, 4, kept.shape) * (1 + np.abs(given.data))
    other = np.where(kept, given.data, given.data + away).astype(given.data.dtype)
    inputs = [replace(x, data=other) if x is given else x for x in program.inputs]
    return replace(program, inputs=inputs)


__all__ = ["promised"]
