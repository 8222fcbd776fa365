"""A training that is run once more, otherwise: whether its graph or the eager target still differs then."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from autotest.compare.difference import Difference, Rules
from autotest.compare.layouts import eager_differences
from autotest.compare.observations import graph_differences
from autotest.workers.alone import run_alone, run_graph_alone
from autotest.workers.protocol import Target
from dual_object.program.program import Program
from dual_object.replay.adapter import Adapter, Reference
from dual_object.replay.observation import Observation
from dual_object.replay.randomness import randomness
from dual_object.replay.replay import Replay

#: The differences that any rank has seen at a place, given those that this one has.
Agreed = Callable[[str, list[Difference]], list[Difference]]


def left(
    reference: Adapter,
    target: Target,
    program: Program,
    other: Program,
    rules: Rules,
    place: str,
    *,
    graph: bool,
    agreed: Agreed,
) -> list[Difference] | None:
    """How the target's graph, or else eager, differs in the `other` training that was made of the Program; None where a
    side fails. Ranks agree on it at this place.
    """
    if program.random is not None:
        other.random = randomness(cast("Reference", reference), other)
    expected, eager = Replay(reference, other, side="reference").run(), run_alone(target, other)
    if expected.ended or not isinstance(eager, Observation):
        return None
    differences = eager_differences(reference, other, expected, eager, rules)
    if graph:
        result = run_graph_alone(target, other, expected.gradient_keys())
        if not isinstance(result, Observation):
            return None
        apart = not eager.ended and bool(differences)
        differences = graph_differences(other, expected, eager, result, rules, apart=apart)
    return agreed(place, differences)


__all__ = ["Agreed", "left"]
