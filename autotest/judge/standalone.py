"""A trial: one stored Program, run on both sides again, outside its test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from autotest.compare.difference import Rules
from autotest.compare.divergence import Divergence
from autotest.compare.evidence.evidence import Sides
from autotest.compare.layouts import eager_differences
from autotest.compare.observations import graph_differences
from autotest.errors import AutotestError
from autotest.judge import second_call
from autotest.judge.blame.localization import localize, localize_death, of_capture, of_death, of_refusal
from autotest.judge.blame.within import told_within
from autotest.judge.configurations import besides, told_under
from autotest.judge.distributions import random_calls, sample_differences
from autotest.judge.facts.conditions import Facts
from autotest.oracle.undecidable import decidable
from autotest.workers.alone import run_alone, run_graph_alone
from autotest.workers.protocol import Death, Target
from autotest.workers.wrapped.configured import under
from dual_object.program.program import Program
from dual_object.replay.adapter import GraphRefusal, Reference
from dual_object.replay.observation import Observation
from dual_object.replay.replay import Replay
from dual_object.replay.second_call import second_call as called_again


class TrialError(AutotestError, LookupError):
    """PyTorch itself cannot run a stored Program here."""


def trial(
    reference: Reference,
    target: Target,
    program: Program,
    rules: Rules,
    *,
    graph: bool,
    whole: bool = False,
    configuration: str = "",
    needs: Sequence[str] | None = None,
) -> list[Divergence]:
    """The divergences that `program` shows on its own, eagerly or in a graph of its own, where the reference defines
    its answers: simpler inputs than a case's may well be ties. `whole`: that the graph is not whole is one, too. What
    they need is found out, by experiments, of which each may cost a process; or it is taken to be `needs`, and the
    reference to define its answers, as it did when that was found out.

    Under a `configuration` of the target's graph, those that the plain graph does not show; none where the target has
    no such configuration. Raises TrialError where the reference itself cannot run it.
    """
    configured = under(target, rules, configuration, program)
    if configured is None:
        return []
    if configuration:
        found = trial(reference, configured[0], program, configured[1], graph=graph, whole=whole, needs=needs)
        plain = trial(reference, target, program, rules, graph=graph, whole=whole, needs=needs) if found else []
        return told_under(configuration, besides(found, plain))

    def left(divergences: Sequence[Divergence]) -> list[Divergence]:
        return decidable(reference, divergences)[0] if needs is None else [*divergences]

    expected = Replay(reference, program, side="reference").run()
    if expected.ended:
        failure = expected.failures[-1]
        raise TrialError(f"PyTorch itself cannot run the program here: {failure.classes[0]}: {failure.message}")
    eager = run_alone(target, program)
    facts = Facts(reference, target, rules)
    if isinstance(eager, Death):
        died = of_death(program, eager, "eager_forward")
        return facts.with_conditions([localize_death(reference, target, died)], graph=False)
    sampled = [
        divergence
        for index, _, alone in random_calls(reference, program)
        for divergence in sample_differences(reference, target, program, index, alone, graph=graph)
    ]
    if sampled:
        return sampled
    if graph:
        of_graph = _in_graph(reference, target, program, rules, expected, eager, left, whole=whole)
        return facts.with_conditions(of_graph, graph=True) if needs is None else _needing(needs, of_graph)
    differences = eager_differences(reference, program, expected, eager, rules)
    localized = localize(reference, target, program, differences, rules, Sides(expected, eager), graph=False)
    told = told_within(reference, target, left(localized), rules, graph=False)
    return facts.with_conditions(told, graph=False) if needs is None else _needing(needs, told)


def _needing(needs: Sequence[str], divergences: Sequence[Divergence]) -> list[Divergence]:
    """Divergences that are said to need this, besides what was seen of them."""
    return [replace(one, facts=tuple(dict.fromkeys((*one.facts, *needs)))) for one in divergences]


def _in_graph(
    reference: Reference,
    target: Target,
    program: Program,
    rules: Rules,
    expected: Observation,
    eager: Observation,
    left: Callable[[Sequence[Divergence]], list[Divergence]],
    *,
    whole: bool,
) -> Sequence[Divergence]:
    """What a graph of the Program's own shows, at its first call and at a second one; `left` gives what of it the
    reference defines.
    """
    second = called_again(reference, program, expected)
    again = None if isinstance(second, str) else second.arrays
    result = run_graph_alone(target, program, expected.gradient_keys(), again)
    if isinstance(result, Death):
        return [localize_death(reference, target, of_death(program, result, "graph_forward"))]
    in_pieces = of_capture(program, result) if whole else None
    if in_pieces is not None:
        return [in_pieces]
    if not isinstance(result, Observation):
        skipped = isinstance(result, GraphRefusal) and result.skipped
        return [] if skipped else [of_refusal(program, result)]
    apart = not eager.ended and bool(eager_differences(reference, program, expected, eager, rules))
    differences = graph_differences(program, expected, eager, result, rules, apart=apart)
    if differences or result.again is None or isinstance(second, str):
        sides = Sides(expected, eager, result)
        localized = left(localize(reference, target, program, differences, rules, sides, graph=True))
        return told_within(reference, target, localized, rules, graph=True)
    differences_again = second_call.differences(second, result.again, rules)
    if not differences_again:
        return []
    return second_call.judge(reference, target, program, second, result.again, differences_again, rules, left)
