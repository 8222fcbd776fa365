"""What draws random numbers to choose what of its input it keeps, as dropout does: by how much it scales that."""

from __future__ import annotations

import numpy as np

from autotest.kernels.questions import Question
from dual_object.program.values import Array
from dual_object.replay.observation import Observation

#: Elements that must have been kept, and how far their scales may be apart.
_FEWEST, _APART = 2, 1e-3


def scaled_otherwise(question: Question, answer: Observation) -> str | None:
    """How what a kernel keeps is scaled, where PyTorch scales all that it keeps alike; None where that is the same, or
    nothing is kept, or no scale is to be seen.
    """
    program = question.program
    if program.random is None or len(program.inputs) != 1 or len(question.expected.outputs) != 1:
        return None
    given, (id_,) = program.inputs[0].data, question.expected.outputs
    if given.dtype.kind != "f" or id_ not in answer.outputs:
        return None
    scales = [_scale(given, side.outputs[id_].data) for side in (question.expected, answer)]
    should, found = scales
    if should is None or found is None or abs(found - should) <= _APART * abs(should):
        return None
    return f"what it keeps at random is {found:.3g} times what it was given, but should be {should:.3g} times"


def _scale(given: Array, kept: Array) -> float | None:
    """By how much all that is not zero is scaled; None where that is not one number."""
    if given.shape != kept.shape or kept.dtype.kind != "f":
        return None
    known = (kept != 0) & (given != 0) & np.isfinite(given) & np.isfinite(kept)
    if known.sum() < _FEWEST:
        return None
    shares = kept[known].astype(np.float64) / given[known]
    middle = float(np.median(shares))
    return middle if bool((np.abs(shares - middle) <= _APART * abs(middle)).all()) else None


__all__ = ["scaled_otherwise"]
