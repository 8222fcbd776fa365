"""A trial: one stored Program, run on both sides again, outside its test."""

from __future__ import annotations

from collections.abc import Sequence

from autotest.cases.case import Case
from autotest.compare.difference import Rules
from autotest.compare.divergence import Divergence
from autotest.compare.evidence import Sides
from autotest.compare.layouts import eager_differences
from autotest.compare.observations import compare
from autotest.errors import AutotestError
from autotest.judge import second_call
from autotest.judge.conditions import Facts
from autotest.judge.distributions import random_calls, sample_differences
from autotest.judge.localization import blame, blame_death, of_death, of_refusal
from autotest.oracle.undecidable import decidable
from autotest.workers.protocol import Death, GraphFailure, Target
from dual_object.program.program import Program
from dual_object.replay.adapter import GraphRefusal, Reference
from dual_object.replay.observation import Observation
from dual_object.replay.replay import Replay
from dual_object.replay.second_call import second_call as called_again


class TrialError(AutotestError, LookupError):
    """PyTorch itself cannot run a stored Program here."""


def trial(reference: Reference, target: Target, program: Program, rules: Rules, *, graph: bool) -> list[Divergence]:
    """The divergences that `program` shows on its own, eagerly or in a graph of its own, where the reference defines
    its answers: simpler inputs than a case's may well be ties.

    Raises TrialError where the reference itself cannot run it.
    """
    facts = Facts(reference, target, rules)

    def left(found: Sequence[Divergence]) -> list[Divergence]:
        return decidable(reference, found)[0]

    expected = Replay(reference, program, side="reference").run()
    if expected.ended:
        failure = expected.failures[-1]
        raise TrialError(f"PyTorch itself cannot run the program here: {failure.classes[0]}: {failure.message}")
    [eager] = target.eager([program])
    if isinstance(eager, Death):
        died = of_death(program, eager, "eager_forward")
        return facts.told([blame_death(reference, target, died)], graph=False)
    sampled = [
        divergence
        for index, _, alone in random_calls(reference, program)
        for divergence in sample_differences(reference, target, program, index, alone, graph=graph)
    ]
    if sampled:
        return sampled
    if not graph:
        found = eager_differences(reference, program, expected, eager, rules)
        blamed = blame(reference, target, program, found, rules, Sides(expected, eager), graph=False)
        return facts.told(left(blamed), graph=False)
    case = Case(0, "", program, expected)
    keys = [case.gradient_keys()] if program.cotangents else None
    second = called_again(reference, program, expected)
    answer = target.graph([program], keys, None if isinstance(second, str) else [second.arrays])
    if isinstance(answer, Death):
        died = of_death(program, answer, "graph_forward")
        return facts.told([blame_death(reference, target, died)], graph=True)
    result = answer if isinstance(answer, GraphFailure) else answer[0]
    if isinstance(result, Observation):
        found = compare(program, eager, result, rules, graph=True) or compare(
            program, expected, result, rules, graph=True
        )
        if not found and result.again is not None and not isinstance(second, str):
            shown = second_call.differences(second, result.again, rules)
            if not shown:
                return []
            judged = second_call.judge(reference, target, program, second, result.again, shown, rules, left)
            return facts.told(judged, graph=True)
        blamed = blame(reference, target, program, found, rules, Sides(expected, eager, result), graph=True)
        return facts.told(left(blamed), graph=True)
    if isinstance(result, GraphRefusal) and result.skipped:
        return []
    return facts.told([of_refusal(program, result)], graph=True)
