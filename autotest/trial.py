"""A trial: one stored Program, run on both sides again, outside its test."""

from __future__ import annotations

from autotest.blame import Target, blame, of_death, of_refusal
from autotest.case import Case
from autotest.comparison import Rules, compare
from autotest.divergence import Divergence
from autotest.errors import AutotestError
from autotest.evidence import Sides
from autotest.worker import Death, GraphFailure
from dual_object.adapter import Adapter, GraphRefusal
from dual_object.observation import Observation
from dual_object.program import Program
from dual_object.replay import Replay


class TrialError(AutotestError, LookupError):
    """PyTorch itself cannot run a stored Program here."""


def trial(reference: Adapter, target: Target, program: Program, rules: Rules, *, graph: bool) -> list[Divergence]:
    """The divergences that `program` shows on its own, eagerly or in a graph of its own.

    Raises TrialError where the reference itself cannot run it.
    """
    expected = Replay(reference, program, side="reference").run()
    if expected.ended:
        failure = expected.failures[-1]
        raise TrialError(f"PyTorch itself cannot run the program here: {failure.classes[0]}: {failure.message}")
    [eager] = target.eager([program])
    if isinstance(eager, Death):
        return [of_death(program, eager, "eager_forward")]
    if not graph:
        found = compare(program, expected, eager, rules)
        return blame(reference, target, program, found, rules, Sides(expected, eager), graph=False)
    case = Case(0, "", program, expected)
    keys = [case.gradient_keys()] if program.cotangents else None
    answer = target.graph([program], keys)
    if isinstance(answer, Death):
        return [of_death(program, answer, "graph_forward")]
    result = answer if isinstance(answer, GraphFailure) else answer[0]
    if isinstance(result, Observation):
        found = compare(program, eager, result, rules, graph=True) or compare(
            program, expected, result, rules, graph=True
        )
        return blame(reference, target, program, found, rules, Sides(expected, eager, result), graph=True)
    if isinstance(result, GraphRefusal) and result.skipped:
        return []
    return [of_refusal(program, result)]
