"""Levels: which divergences OneFlow's own harness would have failed, and which only our checks see.

That harness compares, at the end of a body, the values of every tensor that the body made, with their gradients and
the state of its modules; it prints a graph's other values, and fails of a graph's exceptions alone.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from autotest.compare.difference import Difference
from autotest.compare.divergence import Divergence
from autotest.compare.kinds import DEADLY, PHASES, RAISES
from autotest.options import TestOptions
from dual_object.program.global_layouts import distributed
from dual_object.program.program import Program
from dual_object.program.values import Placement, Ref, Tree, leaves, refs
from dual_object.replay.observation import Seen

#: What its values do not show.
_UNSEEN = frozenset({"alias", "layout", "mode", "requires_grad"})
#: The steps that it compares, outside of a graph.
_COMPARED = ("forward", "backward")


def unseen(
    differences: Sequence[Difference],
    divergences: Sequence[Divergence],
    program: Program,
    options: TestOptions,
    *,
    backward: bool,
) -> list[Divergence]:
    """Those of `divergences` that OneFlow's harness would not have failed; `backward` says whether it would have run
    one.

    `divergences` were blamed for `differences` of `program`. A blamed call run by itself may differ in another way than
    the Program did, and none of them may look like a failure of OneFlow's harness though it would have failed one of
    the differences: then none is returned.
    """
    starts_otherwise = any(map(_reshaped, differences))

    def red(difference: Difference, program: Program) -> bool:
        if starts_otherwise and difference.kind in RAISES and PHASES[difference.phase].step == "backward":
            return False
        return fails(difference, program, options, backward=backward)

    failing = [divergence for divergence in divergences if red(divergence.difference, divergence.program)]
    if any(red(difference, program) for difference in differences):
        kept = {id(divergence) for divergence in failing or divergences}
        return [divergence for divergence in divergences if id(divergence) not in kept]
    return list(divergences)


def fails(difference: Difference, program: Program, options: TestOptions, *, backward: bool = True) -> bool:
    """Whether OneFlow's harness would have failed of this difference."""
    kind, part, phase = difference.kind, difference.part, PHASES[difference.phase]
    if phase.mode == "graph" and distributed(program) and not _on_gpu(program):
        return False  # it builds no graph of global tensors on the CPU
    if kind in DEADLY:
        return True
    if kind == "batch_only" or kind in _UNSEEN or part == "call":
        return False
    if kind in ("accepts_invalid", "exception_class"):
        return aligns_exceptions()
    if kind in RAISES:
        return backward or phase.step != "backward"
    if phase.mode == "graph" or phase.step not in _COMPARED or not options.check_allclose:
        return False
    if part == "host":
        return _returns_what(program, difference.call)
    if part == "gradient":
        return backward and kind != "grad_extra" and not _close(difference, options, dtype=False)
    if kind == "structure":
        return part != "buffer" and _must_be_a_tensor(program, difference.call)
    return not _close(difference, options, dtype=options.check_dtype)


def _reshaped(difference: Difference) -> bool:
    """Whether a result has its elements in another shape: OneFlow's harness starts each side's backward in the shape of
    that side's own result, so that one which is refused here runs there.
    """
    expected, actual = difference.expected, difference.actual
    if difference.kind != "shape" or expected is None or actual is None:
        return False
    return PHASES[difference.phase].step == "forward" and expected.data.size == actual.data.size


def aligns_exceptions() -> bool:
    """Whether what the reference refuses and the target takes is a failure."""
    return "ONEFLOW_TEST_ALIGN_EXCEPTION" in os.environ


def _close(difference: Difference, options: TestOptions, *, dtype: bool) -> bool:
    """Whether `numpy.allclose` finds both sides equal, broadcasting as it does; `dtype`: and their dtypes are."""
    expected, actual = difference.expected, difference.actual
    if expected is None or actual is None:
        return False
    if dtype and _stored(expected) != _stored(actual):
        return False
    assert options.rtol is not None
    assert options.atol is not None
    with np.errstate(all="ignore"):
        try:
            return np.allclose(expected.data, actual.data, rtol=options.rtol, atol=options.atol, equal_nan=True)
        except ValueError:  # shapes that do not broadcast
            return False


def _on_gpu(program: Program) -> bool:
    trees: list[Tree] = [x.layout for x in program.inputs]
    trees += [(call.args, call.kwargs) for call in program.calls]
    return any(type(leaf) is Placement and leaf.type == "cuda" for tree in trees for leaf in leaves(tree))


def _stored(reading: Seen) -> str:
    return str(reading.data.dtype)


def _returns_what(program: Program, call: int | None) -> bool:
    """Whether the body returned the plain value that this call gave it."""
    if call is None:
        return False
    given = program.calls[call].out
    return any(type(leaf) is type(given) and leaf == given for leaf in _plain_leaves(program.outputs))


def _plain_leaves(tree: Tree) -> list[Tree]:
    if isinstance(tree, (tuple, list)) and not hasattr(tree, "_fields"):
        return [tree, *(leaf for item in tree for leaf in _plain_leaves(item))]
    return [tree]


def _must_be_a_tensor(program: Program, call: int | None) -> bool:
    """Whether this call's result is compared at all: one tensor always is, several only where they are returned."""
    if call is None:
        return True
    out = program.calls[call].out
    return type(out) is Ref or bool(set(refs(out)) & set(refs(program.outputs)))


__all__ = ["aligns_exceptions", "fails", "unseen"]
