"""The judge of a target that lists several executors: which of them, the stages, has introduced a difference.

Eagerly all of them are one. Each stage's graph is judged as if it ran alone, in every case: what one stage has and a
later one has not is found, too. What several show with one fingerprint is one divergence, that of the first of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from autotest.compare.difference import Difference
from autotest.compare.divergence import Divergence, Stages
from autotest.compare.kinds import NUMBERS, in_graph
from autotest.judge.configurations import ConfiguredJudge
from autotest.judge.judge import Judge
from autotest.judge.judgement import VERIFIED, Check, Checks, Judgement
from autotest.workers.protocol import Death
from dual_object.program.program import Program
from dual_object.replay.observation import GraphPart, Observation

#: What is said of a stage whose own divergence is of such a kind; of any other, that it is wrong.
_KINDS: Mapping[str, str] = {
    "crash": "crashed",
    "timeout": "timed out",
    "out_of_memory": "ran out of memory",
    "exception": "raised",
    "unsupported": "refused it",
    "missing": "refused it",
}
#: In which part of an observation a difference shows, by its kind; all graphs show shapes and dtypes.
_PARTS: Mapping[str, GraphPart] = {
    **dict.fromkeys(NUMBERS, "values"),
    "layout": "layout",
    "alias": "sharing",
    "requires_grad": "standing",
    "mutation": "inputs",
}


class StagedJudge:
    """Judges the cases of one test on several stages, by a judge of each, in their order."""

    def __init__(self, judges: Mapping[str, Judge | ConfiguredJudge]) -> None:
        self._judges = judges
        self._first = next(iter(judges.values()))

    def judge(self, judgements: Sequence[Judgement], answers: Sequence[Observation | Death]) -> None:
        """Judge cases by what they have shown eagerly, then by what they show in the graphs of each stage."""
        self._first.judge_eager(judgements, answers)
        branches = {name: [judgement.branch() for judgement in judgements] for name in self._judges}
        for name, judge in self._judges.items():
            judge.judge_graphs(branches[name], eager=judge is self._first)
        for index, judgement in enumerate(judgements):
            _join(judgement, {name: each[index] for name, each in branches.items()})

    def lacking(self, program: Program) -> str | None:
        """Why the target cannot be asked about a Program at all; None where it can."""
        return self._first.lacking(program)

    def refused(self, program: Program) -> list[Divergence]:
        """What the target does with a draw that the reference refuses, where that is no refusal."""
        return self._first.refused(program)

    def all_refused(self, programs: Sequence[Program]) -> list[list[Divergence]]:
        """The same for each of many draws."""
        return self._first.all_refused(programs)


def _join(judgement: Judgement, branches: Mapping[str, Judgement]) -> None:
    """Take what all stages have come to back into the case: each divergence with the first stage that shows it."""
    eager, doubts = len(judgement.divergences), len(judgement.doubts)
    own = {name: branch.divergences[eager:] for name, branch in branches.items()}
    shown: dict[str, dict[str, Divergence]] = {}  # by the fingerprint without a target, and by stage
    for name, divergences in own.items():
        for divergence in divergences:
            shown.setdefault(divergence.fingerprint(""), {}).setdefault(name, divergence)
    for name, branch in branches.items():
        for divergence in own[name]:
            alike = shown[divergence.fingerprint("")]
            first, *also = alike
            if first != name:
                continue
            outcomes = {
                each: _outcome(divergence.difference, alike.get(each), other, own[each], doubts)
                for each, other in branches.items()
                if in_graph(divergence.difference.phase)
            }
            told = replace(divergence, stages=Stages(first, tuple(also), outcomes))
            judgement.divergences.append(told)
            if any(unseen is divergence for unseen in branch.unseen):
                judgement.unseen.append(told)
        judgement.doubts += [doubt for doubt in branch.doubts[doubts:] if doubt not in judgement.doubts]
        judgement.death = judgement.death or branch.death
    judgement.graph = _joined({name: branch.graph for name, branch in branches.items()})


def _outcome(
    difference: Difference, same: Divergence | None, branch: Judgement, others: Sequence[Divergence], doubts: int
) -> str:
    """What came of one stage in a case where some stage shows a `difference`: `same` is what it shows of that, `others`
    are all its own divergences, and its doubts follow after so many.
    """
    capture = branch.graph.capture
    broken = " with graph breaks" if capture is not None and capture.outcome == "broken" else ""
    own = next(iter([same] if same is not None else others), None)
    if own is not None:
        if own.difference.kind == "unsupported" and broken:  # the test wants one graph
            return "broke"
        return _KINDS.get(own.difference.kind, "wrong" if own is same else "wrong in another way") + broken
    if branch.graph.forward != VERIFIED:
        return "refused it" if capture is not None and capture.outcome == "refused" else "not run"
    graph = branch.sides.graph
    part = _part(difference)
    if graph is not None and part is not None and part not in graph.shows:
        return "does not show it"
    if len(branch.doubts) > doubts:
        return "undecidable" + broken
    return "right" + broken


def _part(difference: Difference) -> GraphPart | None:
    """The part of an observation in which a difference shows; None for one that every graph shows."""
    if difference.part == "host":
        return "hosts"
    if difference.part == "gradient" or difference.kind in ("grad_missing", "grad_extra"):
        return "gradients"
    return "buffers" if difference.part == "buffer" else _PARTS.get(difference.kind)


def _joined(stages: Mapping[str, Checks]) -> Checks:
    """What became of the checks of a case: one that was not made in some stage was not made."""
    first = next(iter(stages.values()))
    captures = {name: checks.capture for name, checks in stages.items() if checks.capture is not None}
    return replace(
        first,
        forward=_worst({name: checks.forward for name, checks in stages.items()}) or first.forward,
        backward=_worst({name: checks.backward for name, checks in stages.items()}) or first.backward,
        state=_worst({name: checks.state for name, checks in stages.items()}),
        again=_worst({name: checks.again for name, checks in stages.items()}),
        capture=None,
        captures=captures,
    )


def _worst(checks: Mapping[str, Check | None]) -> Check | None:
    """The first check that was not made, with its stage where not all have that reason; else what all of them say."""
    made = {name: check for name, check in checks.items() if check is not None}
    unverified = next(_unverified(made), None)
    return unverified or next(iter(made.values()), None)


def _unverified(checks: Mapping[str, Check]) -> Iterator[Check]:
    for name, check in checks.items():
        if check.state == "unverified":
            # Most reasons name their stage already.
            plain = name in check.reason or len({*checks.values()}) == 1
            yield check if plain else replace(check, reason=f"{name}: {check.reason}")


__all__ = ["StagedJudge"]
