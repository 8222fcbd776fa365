"""Graphs of single calls: OneFlow's own harness runs each call in a graph of its own, this one whole programs."""

from __future__ import annotations

from autotest.workers.protocol import Target
from dual_object.program.program import Program
from dual_object.replay.adapter import Adapter, GraphRefusal
from dual_object.replay.isolation import isolate


def refused_alone(reference: Adapter, target: Target, program: Program) -> bool:
    """Whether the graph of a single call of `program` is refused; also where no call can stand alone.

    A module's graph runs backward, too.
    """
    met = False
    for index, alone, seen in isolate(reference, program):
        met = True
        keys = seen.gradient_keys()
        backward = program.calls[index].kind == "call" and bool(alone.cotangents and keys)
        answer = target.graph([alone], [keys] if backward else None)
        if not isinstance(answer, list) or (isinstance(answer[0], GraphRefusal) and not answer[0].skipped):
            return True
    return not met
