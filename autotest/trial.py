"""A trial: one stored Program, run on both sides again, outside its test."""

from __future__ import annotations

from autotest import again
from autotest.blame import Target, blame, of_death, of_refusal
from autotest.case import Case
from autotest.comparison import Rules, compare
from autotest.divergence import Divergence
from autotest.errors import AutotestError
from autotest.evidence import Sides
from autotest.facts import Facts
from autotest.layouts import eager_differences
from autotest.sampling import random_calls, sample_differences
from autotest.worker import Death, GraphFailure
from dual_object.adapter import Adapter, GraphRefusal
from dual_object.observation import Observation
from dual_object.program import Program
from dual_object.replay import Replay
from dual_object.second_call import second_call


class TrialError(AutotestError, LookupError):
    """PyTorch itself cannot run a stored Program here."""


def trial(reference: Adapter, target: Target, program: Program, rules: Rules, *, graph: bool) -> list[Divergence]:
    """The divergences that `program` shows on its own, eagerly or in a graph of its own.

    Raises TrialError where the reference itself cannot run it.
    """
    told = Facts(reference, target, rules).told
    expected = Replay(reference, program, side="reference").run()
    if expected.ended:
        failure = expected.failures[-1]
        raise TrialError(f"PyTorch itself cannot run the program here: {failure.classes[0]}: {failure.message}")
    [eager] = target.eager([program])
    if isinstance(eager, Death):
        return told([of_death(program, eager, "eager_forward")], graph=False)
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
        return told(blamed, graph=False)
    case = Case(0, "", program, expected)
    keys = [case.gradient_keys()] if program.cotangents else None
    second = second_call(reference, program, expected)
    answer = target.graph([program], keys, None if isinstance(second, str) else [second.arrays])
    if isinstance(answer, Death):
        return told([of_death(program, answer, "graph_forward")], graph=True)
    result = answer if isinstance(answer, GraphFailure) else answer[0]
    if isinstance(result, Observation):
        found = compare(program, eager, result, rules, graph=True) or compare(
            program, expected, result, rules, graph=True
        )
        if not found and result.again is not None and not isinstance(second, str):
            shown = again.differences(second, result.again, rules)
            judged = again.judge(reference, target, program, second, result.again, shown, rules) if shown else []
            return told(judged, graph=True)
        blamed = blame(reference, target, program, found, rules, Sides(expected, eager, result), graph=True)
        return told(blamed, graph=True)
    if isinstance(result, GraphRefusal) and result.skipped:
        return []
    return told([of_refusal(program, result)], graph=True)
