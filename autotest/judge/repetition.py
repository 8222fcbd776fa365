"""Repetition: whether a target that has ended does so again when its Program runs again.

One that fails in one of several ways by chance, such as a graph that raises in most runs and ends the process in some,
would have a fingerprint for each of its ways, of which a ledger holds the one that came first. It is told by the way
that leaves its process alive, and the message says that it is nondeterministic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from autotest.compare.difference import Rules
from autotest.compare.divergence import Divergence
from autotest.compare.evidence.evidence import Sides
from autotest.compare.fingerprint import UNSTEADY
from autotest.compare.kinds import RAISES, in_graph
from autotest.compare.layouts import eager_differences
from autotest.judge.blame.localization import localize, of_refusal
from autotest.workers.alone import GraphResult, run_alone, run_graph_alone
from autotest.workers.protocol import Death, Target
from dual_object.program.program import Program
from dual_object.replay.adapter import Adapter, GraphRefusal
from dual_object.replay.observation import Observation

#: A Program that has ended the target runs so many times again, each of which may cost another worker. One that does so
#: in three runs of ten is taken for one that always does once in eleven times.
RUNS = 2
#: One that did not answer, once: each costs a whole deadline.
LATE_RUNS = 1
#: One that has stayed away in these is taken for chance where it stays away in so many.
CHANCE_RUNS = 10
#: A target that says what it has checked ends itself for that reason, each time.
_REASONED = "Check failed"


def settled(
    reference: Adapter,
    target: Target,
    crash: Divergence,
    expected: Observation,
    rules: Rules,
    gradients: Sequence[str],
) -> Divergence | None:
    """What a crash is told as that does not come back each time, or a target that did not answer: the failure that came
    instead, or, where nothing did, that itself, `unsteady` where it has never come back. None where it comes back each
    time.

    `crash` is as its own run showed it; `expected` is what the reference shows of its Program, `gradients` are the keys
    of the leaves whose gradients its graph was asked for.
    """
    if _REASONED in (crash.last_words or ""):
        return None
    enough = LATE_RUNS if crash.difference.kind == "timeout" else RUNS
    ended = survived = 0
    while ended + survived < (enough if ended else CHANCE_RUNS):
        answer = _run_again(target, crash, gradients)
        if isinstance(answer, Death):
            ended += 1
            continue
        survived += 1
        other = _failure(reference, target, crash.program, expected, answer, rules)
        if other is not None:
            return nondeterministic(other, f"at another run {crash.difference.message}")
    if not survived:
        return None
    told = nondeterministic(crash, f"run again, it did not in {survived} of {survived + ended} runs")
    return told if ended else replace(told, facts=(UNSTEADY,))


def nondeterministic(divergence: Divergence, words: str) -> Divergence:
    """The divergence with what else came of the same Program."""
    difference = divergence.difference
    message = f"{difference.message}; nondeterministic: {words}"
    return replace(divergence, difference=replace(difference, message=message))


def _run_again(target: Target, crash: Divergence, gradients: Sequence[str]) -> GraphResult:
    if in_graph(crash.difference.phase):
        return run_graph_alone(target, crash.program, gradients)
    return run_alone(target, crash.program)


def _failure(
    reference: Adapter, target: Target, program: Program, expected: Observation, answer: GraphResult, rules: Rules
) -> Divergence | None:
    """The exception that an answer is, or ended with; None where it ran to its end."""
    if isinstance(answer, Observation):
        differences = eager_differences(reference, program, expected, answer, rules)
        raised = [difference for difference in differences if difference.kind in RAISES]
        sides = Sides(expected, answer)
        return next(iter(localize(reference, target, program, raised, rules, sides, graph=False)), None)
    assert not isinstance(answer, Death), "an answer that came"
    skipped = isinstance(answer, GraphRefusal) and answer.skipped
    return None if skipped else of_refusal(program, answer)


__all__ = ["nondeterministic", "settled"]
