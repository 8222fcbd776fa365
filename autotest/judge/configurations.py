"""The judge of a target whose static graphs may be built under configurations: each must give what the plain one gives.

A case whose plain graph has run has its graph built again under each configuration that is asked for, in batches as
the plain ones, and judged as those are. What shows then, and not in the plain graph, is the configuration's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from autotest.compare.divergence import Divergence
from autotest.compare.kinds import in_graph
from autotest.judge.judge import Judge
from autotest.judge.judgement import VERIFIED, Check, Judgement
from autotest.workers.protocol import Death
from autotest.workers.wrapped.configured import dtype_under, wanted
from dual_object.program.program import Program
from dual_object.replay.adapter import Configuration
from dual_object.replay.observation import Observation

#: Why a case has no graph under a configuration; of modules, it may have none.
_NONE = Check("unverified", "its plain graph was not verified")
_BARE = Check("nothing")


class ConfiguredJudge:
    """Judges the cases of one test as `plain` does, then their graphs under configurations of the target.

    `asked` are the names of these, or `all`; `judge_under` makes the judge of one.
    """

    def __init__(self, plain: Judge, asked: Sequence[str], judge_under: Callable[[Configuration], Judge]) -> None:
        self._plain = plain
        self._asked = asked
        self._judge_under = judge_under
        self._wanted: list[Configuration] | None = None
        self._judges: dict[Configuration, Judge] = {}

    def judge(self, judgements: Sequence[Judgement], answers: Sequence[Observation | Death]) -> None:
        """Judge cases by what they have shown eagerly, then by what they show in graphs."""
        self.judge_eager(judgements, answers)
        self.judge_graphs(judgements)

    def judge_eager(self, judgements: Sequence[Judgement], answers: Sequence[Observation | Death]) -> None:
        """Judge cases by what they have shown eagerly, which no configuration changes."""
        self._plain.judge_eager(judgements, answers)

    def judge_graphs(self, judgements: Sequence[Judgement], *, eager: bool = True) -> None:
        """Judge cases by what they show in plain graphs, then under each configuration.

        Raises UsageError where one is asked for that the target has not.
        """
        self._plain.judge_graphs(judgements, eager=eager)
        if not self._plain.options.check_graph:
            return
        offered = self._offered()
        for judgement in judgements:
            if offered:
                judgement.graph.configurations = {configuration.name: _NONE for configuration in offered}
            else:
                none = Check("unverified", f"{self._plain.target.info().name} offers none")
                judgement.graph.configurations = dict.fromkeys(self._asked, none)
        ran = [judgement for judgement in judgements if judgement.graph.forward == VERIFIED]
        branches = {configuration: [judgement.branch() for judgement in ran] for configuration in offered}
        told = [len(judgement.divergences) for judgement in ran]
        for configuration in offered:
            own = [branch for branch in branches[configuration] if _concerns(configuration, branch.case.program)]
            for dtype in dict.fromkeys((configuration.dtype, "")):
                alike = [branch for branch in own if dtype_under(configuration, branch.case.program) == dtype]
                self._judge(configuration._replace(dtype=dtype)).judge_graphs(alike, eager=False)
            for judgement, branch, plain in zip(ran, branches[configuration], told, strict=True):
                if any(branch is one for one in own):
                    _join(judgement, branch, configuration.name, plain)
                else:
                    judgement.graph.configurations[configuration.name] = _BARE

    def lacking(self, program: Program) -> str | None:
        """Why the target cannot be asked about a Program at all; None where it can."""
        return self._plain.lacking(program)

    def refused(self, program: Program) -> list[Divergence]:
        """What the target does with a draw that the reference refuses, where that is no refusal."""
        return self._plain.refused(program)

    def all_refused(self, programs: Sequence[Program]) -> list[list[Divergence]]:
        """The same for each of many draws."""
        return self._plain.all_refused(programs)

    def _offered(self) -> list[Configuration]:
        if self._wanted is None:  # only now has the target said what it has
            self._wanted = wanted(self._asked, self._plain.target.info())
        return self._wanted

    def _judge(self, configuration: Configuration) -> Judge:
        if configuration not in self._judges:
            self._judges[configuration] = self._judge_under(configuration)
        return self._judges[configuration]


def besides(divergences: Sequence[Divergence], plain: Sequence[Divergence]) -> list[Divergence]:
    """Those that differ in op, phase, kind or buffer from all that the plain graph and eager show of the same case."""
    shown = {_told_by(divergence) for divergence in plain}
    return [divergence for divergence in divergences if _told_by(divergence) not in shown]


def told_under(name: str, divergences: Sequence[Divergence]) -> list[Divergence]:
    """Divergences of a graph that was built under a configuration, told as such; those of eager are as they were."""
    return [
        replace(divergence, difference=replace(divergence.difference, configuration=name))
        if in_graph(divergence.difference.phase)
        else divergence
        for divergence in divergences
    ]


def _concerns(configuration: Configuration, program: Program) -> bool:
    return not configuration.of_modules or any(program.modules())


def _join(judgement: Judgement, branch: Judgement, name: str, plain: int) -> None:
    """Take what a case has come to under a configuration back into it; so many of its divergences it had before."""
    judgement.graph.configurations[name] = branch.graph.forward
    own = besides(branch.divergences[plain:], branch.divergences[:plain])
    for divergence, told in zip(own, told_under(name, own), strict=True):
        judgement.divergences.append(told)
        if any(unseen is divergence for unseen in branch.unseen):
            judgement.unseen.append(told)
    judgement.doubts += [doubt for doubt in branch.doubts if doubt not in judgement.doubts]
    judgement.death = judgement.death or branch.death


def _told_by(divergence: Divergence) -> tuple[str, str, str, str]:
    difference = divergence.difference
    return divergence.op, difference.phase, difference.kind, difference.buffer


__all__ = ["ConfiguredJudge", "besides", "told_under"]
