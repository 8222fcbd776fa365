"""Graphs of single calls: OneFlow's own harness runs each call in a graph of its own, this one whole programs."""

from __future__ import annotations

from autotest.workers.alone import run_graph_alone
from autotest.workers.protocol import Target
from dual_object.program.program import Program
from dual_object.replay.adapter import Adapter, GraphRefusal
from dual_object.replay.isolation import isolate
from dual_object.replay.observation import Observation


def refused_alone(reference: Adapter, target: Target, program: Program) -> bool:
    """Whether the graph of a single call of `program` is refused; also where no call can stand alone.

    A module's graph runs backward, too.
    """
    met = False
    for index, alone, observation in isolate(reference, program):
        met = True
        gradients = observation.gradient_keys() if program.calls[index].kind == "call" else ()
        result = run_graph_alone(target, alone, gradients)
        if not (isinstance(result, Observation) or (isinstance(result, GraphRefusal) and result.skipped)):
            return True
    return not met
