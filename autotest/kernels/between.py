"""Programs in which a tensor is written to between a call and its backward.

PyTorch notices where such a tensor was saved for the backward, and refuses; where another was, the gradient is right.
Of a kernel either will do: what is wrong is a gradient of numbers that are there no more. What it should be is had from
a Program that writes to a clone, and the kernel is asked the Program without the clone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dual_object.program.calls import Call
from dual_object.program.program import Program
from dual_object.program.values import Ref, map_leaves

#: How such questions are told of.
RESULT_CHANGED, INPUTS_CHANGED = "the result written to before", "the inputs written to before"


def without_clones(program: Program, path: str) -> Program:
    """The Program in which the call of the op at `path` takes what was cloned for it, or gives in place of the clone
    what that was made of; the numbers of all other values stay.
    """
    clones = {call.results()[0]: call.operands()[0] for call in program.calls if _clones(call)}
    made = {source: clone for clone, source in clones.items()}

    def taken(leaf: Any) -> Any:
        return Ref(clones.get(leaf.id, leaf.id)) if type(leaf) is Ref else leaf

    def given(leaf: Any) -> Any:
        return Ref(made.get(leaf.id, leaf.id)) if type(leaf) is Ref else leaf

    calls = [
        replace(
            call,
            args=tuple(map_leaves(arg, taken) for arg in call.args),
            kwargs={name: map_leaves(arg, taken) for name, arg in call.kwargs.items()},
            out=map_leaves(call.out, given),
        )
        if call.kind == "function" and call.op == path  # `x * 1` is an operator of the name `mul`
        else call
        for call in program.calls
        if not _clones(call)
    ]
    return replace(program, calls=calls)


def _clones(call: Call) -> bool:
    return call.kind == "method" and call.op == "clone"


__all__ = ["INPUTS_CHANGED", "RESULT_CHANGED", "without_clones"]
