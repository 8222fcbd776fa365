"""What a call gives to Python (a host read), held against what it gave on the reference."""

from __future__ import annotations

import numpy as np

from autotest.compare.difference import Difference, Rules, allowed_between
from autotest.compare.kinds import Phase
from autotest.compare.mismatch import Mismatch
from autotest.compare.tolerance import tolerance
from autotest.compare.values import close
from dual_object.program.program import Program
from dual_object.program.values import Array, Device, Name, Tree
from dual_object.replay.observation import Seen


def host_difference(
    program: Program, index: int, expected: Tree, value: Tree, rules: Rules, phase: Phase
) -> Difference | None:
    """The difference of a host read from the `expected` one; None where floats agree within tolerance."""
    from dual_object.program.printing import show

    call = program.calls[index]
    if isinstance(expected, np.ndarray) and isinstance(value, np.ndarray):
        return _of_arrays(index, call.op, expected, value, rules, phase)
    if _close_trees(expected, value, rules):
        return None
    message = f"{call.op} gives {show(value)}, but should give {show(expected)}"
    return Difference(phase, _kind(call.op, expected, value), call.op, message, call=index, part="host")


def _of_arrays(index: int, op: str, expected: Array, actual: Array, rules: Rules, phase: Phase) -> Difference | None:
    if expected.shape != actual.shape:
        message = f"{op} gives an array of shape {actual.shape}, but should give one of {expected.shape}"
        return Difference(phase, "shape", op, message, call=index, part="host")
    wanted, given = (Seen(str(array.dtype), array.shape, "cpu", False, array) for array in (expected, actual))
    mismatch = Mismatch.between(expected, actual, allowed_between(wanted, rules))
    if mismatch is None:
        return None
    message = f"{op} {mismatch.words}"
    return Difference(
        phase,
        mismatch.kind,
        op,
        message,
        call=index,
        part="host",
        expected=wanted,
        actual=given,
        mismatch=mismatch,
    )


def _close_trees(expected: Tree, actual: Tree, rules: Rules) -> bool:
    """Whether nested lists or tuples of numbers (`tolist()`) agree within tolerance."""
    if type(expected) is not type(actual):
        return False
    if isinstance(expected, (list, tuple)) and not hasattr(expected, "_fields"):
        return len(expected) == len(actual) and all(
            _close_trees(left, right, rules) for left, right in zip(expected, actual, strict=True)
        )
    if isinstance(expected, float):
        return close(np.array(expected), np.array(actual), tolerance("float32", "cpu", rules.rtol, rules.atol))
    return bool(expected == actual)


def _kind(op: str, expected: Tree, actual: Tree) -> str:
    if isinstance(expected, Name) and isinstance(actual, Name):
        return "dtype" if op == "dtype" else "layout"
    if isinstance(expected, Device) and isinstance(actual, Device):
        return "device"
    if op in ("shape", "size", "dim", "ndim", "len", "numel", "nelement"):
        return "shape"
    if op in ("stride", "is_contiguous", "storage_offset"):
        return "layout"
    if op in ("requires_grad", "is_leaf", "retains_grad"):
        return "requires_grad"
    return "value" if type(expected) is type(actual) else "structure"
