"""What the second call of a static graph shows, held against the reference, and against eager where they differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from autotest.cases.case import Case
from autotest.compare.difference import Difference, Rules
from autotest.compare.divergence import Divergence
from autotest.compare.evidence.evidence import Sides
from autotest.compare.layouts import eager_differences
from autotest.compare.observations import compare
from autotest.judge.blame.localization import localize, only_call
from autotest.workers.alone import run_alone, run_graph_alone
from autotest.workers.protocol import Target
from dual_object.program.program import Program
from dual_object.replay.adapter import Adapter
from dual_object.replay.isolation import isolate
from dual_object.replay.observation import Observation
from dual_object.replay.second_call import SecondCall, second_call

#: Gives the second call of a case, or says why it has none.
Draw = Callable[[Case], "SecondCall | str"]


def drawing(reference: Adapter) -> Draw:
    """The second calls of cases, each worked out once.

    Held by the whole key: a remembered case of another seed has the number of one of the run's own.
    """
    held: dict[str, SecondCall | str] = {}

    def draw(case: Case) -> SecondCall | str:
        if case.key not in held:
            held[case.key] = second_call(reference, case.program, case.reference)
        return held[case.key]

    return draw


def differences(second: SecondCall, result: Observation, rules: Rules) -> list[Difference]:
    """How the second call differs from the reference."""
    return [
        replace(difference, again=True)
        for difference in compare(second.program, second.reference, result, rules, graph=True)
    ]


def judge(
    reference: Adapter,
    target: Target,
    program: Program,
    second: SecondCall,
    result: Observation,
    graph_differences: Sequence[Difference],
    rules: Rules,
    decidable: Callable[[Sequence[Divergence]], Sequence[Divergence]],
) -> Sequence[Divergence]:
    """The divergences behind `graph_differences`, which the graph of `program` showed at its second call.

    Where eager computes the same from these values, and wrong, they are eager's own; else the graph's, blamed on the
    call whose own graph shows them. `decidable` leaves of divergences what the reference defines.
    """
    eager = run_alone(target, second.program)
    call = only_call(program)
    if isinstance(eager, Observation) and not compare(second.program, eager, result, rules, graph=True):
        own = eager_differences(reference, second.program, second.reference, eager, rules)
        if own:
            sides = Sides(second.reference, eager)
            return decidable(localize(reference, target, second.program, own, rules, sides, graph=False))
    sides = Sides(second.reference, eager if isinstance(eager, Observation) else None, result)
    # Whether the reference defines them is asked of the values that the second call was given.
    graph_differences = [
        divergence.difference
        for divergence in decidable([Divergence(each, second.program, call, sides=sides) for each in graph_differences])
    ]
    if graph_differences and call is None:
        backward = any(difference.phase == "graph_backward" for difference in graph_differences)
        alone = _alone(reference, target, program, rules, backward)
        if alone:
            return alone
    first: dict[tuple[str, str], Difference] = {}
    for difference in graph_differences:
        first.setdefault((difference.phase, difference.kind), difference)
    return [Divergence(difference, program, call, sides=sides) for difference in first.values()]


def _alone(reference: Adapter, target: Target, program: Program, rules: Rules, backward: bool) -> list[Divergence]:
    """The calls whose graph of their own differs at its second call, once per phase and kind."""
    divergences: dict[tuple[str, str, int], Divergence] = {}
    for index, alone, first in isolate(reference, program):
        second = second_call(reference, alone, first)
        if isinstance(second, str):
            continue
        run = run_graph_alone(target, alone, first.gradient_keys() if backward else (), second.arrays)
        if not isinstance(run, Observation) or run.again is None or compare(alone, first, run, rules, graph=True):
            continue
        for difference in differences(second, run.again, rules):
            sides = Sides(second.reference, None, run.again)
            divergence = Divergence(difference, program, index, alone, sides)
            divergences.setdefault((difference.phase, difference.kind, index), divergence)
    return list(divergences.values())


__all__ = ["Draw", "differences", "drawing", "judge"]
