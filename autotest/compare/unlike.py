"""In what two tensors differ, and a call that ended otherwise than on the reference."""

from __future__ import annotations

from typing import NamedTuple

from autotest.compare.difference import Difference, Part, Rules, allowed_between
from autotest.compare.kinds import Phase
from autotest.compare.mismatch import Mismatch
from dual_object.program.program import Program
from dual_object.replay.observation import Failure, Seen


class Unlike(NamedTuple):
    """In what two tensors differ: kind and words, and their mismatch where it is in their values."""

    kind: str
    words: str
    mismatch: Mismatch | None = None


def unlike(expected: Seen, actual: Seen, rules: Rules, *, signed: bool = False) -> Unlike | None:
    """In what two tensors differ first; None where they agree, which nearly every comparison finds at once. `signed`:
    in the sign of zeros, too.
    """
    if rules.check_dtype and expected.dtype != actual.dtype:
        return Unlike("dtype", f"has dtype {actual.dtype}, but should have {expected.dtype}")
    if expected.shape != actual.shape:
        return Unlike("shape", f"has shape {actual.shape}, but should have {expected.shape}")
    if expected.device != actual.device:
        return Unlike("device", f"has device {actual.device}, but should have {expected.device}")
    left, right = expected.data, actual.data
    if not rules.check_allclose or (left.dtype == right.dtype and left.tobytes() == right.tobytes()):
        return None
    mismatch = Mismatch.between(left, right, allowed_between(expected, rules, signed=signed))
    return None if mismatch is None else Unlike(mismatch.kind, mismatch.words, mismatch)


def tensor_difference(
    phase: Phase, where: str, way: Unlike, part: Part, key: str, expected: Seen, actual: Seen, rules: Rules
) -> Difference:
    """The difference of two tensors that are unlike."""
    mismatch = way.mismatch
    if mismatch is None and expected.shape == actual.shape:
        allowed = allowed_between(expected, rules, signed=part == "output")
        mismatch = Mismatch.of(expected.data, actual.data, allowed)
    return Difference(
        phase,
        way.kind,
        where,
        f"{where} {way.words}",
        part=part,
        key=key,
        expected=expected,
        actual=actual,
        mismatch=mismatch,
    )


def failure_difference(program: Program, failure: Failure, phase: Phase) -> Difference:
    """A call that ended otherwise than on the reference, as a Difference."""
    where = "the program"
    if failure.call is not None:
        call = program.calls[failure.call]
        where = call.op
        if failure.kind == "exception_class":
            message = f"{where} raised {failure.classes[0]}: {failure.message}; but should raise {call.raises[0]}"
            return Difference(phase, failure.kind, where, message, call=failure.call)
    if failure.kind in ("accepts_invalid", "structure"):
        message = f"{where} {failure.message}"
    else:
        message = f"{where} raised {failure.classes[0]}: {failure.message}"
    return Difference(phase, failure.kind, where, message, call=failure.call)


__all__ = ["Unlike", "failure_difference", "tensor_difference", "unlike"]
