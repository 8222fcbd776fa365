"""One Program on a target by itself: what it shows eagerly, and in a static graph of its own."""

from __future__ import annotations

from collections.abc import Sequence

from autotest.workers.protocol import Death, GraphFailure, GraphTarget, Target
from dual_object.program.program import Program
from dual_object.program.values import Array
from dual_object.replay.adapter import GraphRefusal
from dual_object.replay.observation import Observation

#: What comes of a Program in a graph.
GraphResult = Observation | GraphRefusal | GraphFailure | Death


def run_alone(target: Target, program: Program) -> Observation | Death:
    """What the target shows of one Program eagerly, or how it died."""
    [answer] = target.eager([program])
    return answer


def run_graph_alone(
    target: GraphTarget,
    program: Program,
    gradients: Sequence[str],
    again: Sequence[Array] | None = None,
) -> GraphResult:
    """What comes of one Program in a graph of its own.

    `gradients` are the keys of the leaves that have one (`Observation.gradient_keys`): without any, or without
    cotangents to start from, the graph runs forward only. It is called `again` with these values of its inputs.
    """
    keys = [gradients] if gradients and program.cotangents else None
    # A target that is never called again need not know how.
    answer = target.graph([program], keys) if again is None else target.graph([program], keys, [again])
    return answer[0] if isinstance(answer, list) else answer


__all__ = ["GraphResult", "run_alone", "run_graph_alone"]
