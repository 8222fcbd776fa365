"""What is between the drawing of a case and its verdict."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from autotest.cases.case import Rejection
from autotest.cases.dialect import Dialect
from autotest.compare.divergence import Divergence
from autotest.judge.configurations import ConfiguredJudge, told_under
from autotest.judge.judge import Judge
from autotest.judge.judgement import Judgement
from autotest.judge.layers import LayersJudge
from autotest.judge.second_call import drawing
from autotest.judge.stages import StagedJudge
from autotest.judge.survey import Survey
from autotest.ledger.entries import Ledger
from autotest.options import TestOptions
from autotest.run.replayers import Replayer
from autotest.run.session import Session
from autotest.workers.pending import Answers
from autotest.workers.protocol import Target
from autotest.workers.wrapped.configured import Configured
from dual_object.replay.adapter import Configuration

AnyJudge = Judge | ConfiguredJudge | StagedJudge


@dataclass(slots=True)
class Line:
    """Cases on their way: those drawn, the chunks that are being replayed with what will come of them, who replays and
    who judges.

    A chunk is judged as soon as the target has answered, at the latest when the next one is full: a run that is killed
    while a slow body is drawn loses no case that could have been judged.
    """

    replayer: Replayer
    judge: AnyJudge
    drawn: list[Judgement] = field(default_factory=list)
    refused: list[tuple[Rejection, float]] = field(default_factory=list)
    sent: deque[tuple[list[Judgement], Answers]] = field(default_factory=deque)


def judge_on(
    replayer: Replayer,
    session: Session,
    options: TestOptions,
    survey: Survey | None,
    dialect: Dialect,
    ledger: Ledger,
) -> AnyJudge:
    """The judge of what a replayer replays; with one for each executor where its target lists several, and with one
    for each configuration of its graphs that is asked for. They all draw the same second calls.
    """
    reference, again = session.reference, drawing(session.reference)
    asked = session.options.graph_configs or options.asked_configs

    def judge(target: Target, name: str) -> Judge | ConfiguredJudge:
        def known(divergence: Divergence, configuration: str = "") -> Sequence[str] | None:
            [told] = told_under(configuration, [divergence])
            entry = ledger.find(told.fingerprint(name), message=told.difference.message)
            return None if entry is None else entry.parts.said

        def judge_under(configuration: Configuration) -> Judge:
            rules = options.rules.computed_in(configuration.dtype)
            return Judge(
                reference,
                Configured(target, configuration),
                replace(options, rtol=rules.rtol, atol=rules.atol),
                None,  # how far a graph in half precision is off says nothing of the tolerance that ops need
                replayer.consensus,
                dialect,
                partial(known, configuration=configuration.name),
                again,
            )

        kind = LayersJudge if session.options.lower_layers else Judge
        ahead = session.shared_graphs(name, target) if replayer.shares else None
        plain = kind(reference, target, options, survey, replayer.consensus, dialect, known, again, ahead)
        return ConfiguredJudge(plain, asked, judge_under) if asked else plain

    if replayer.stages:
        return StagedJudge({name: judge(target, name) for name, target in replayer.stages.items()})
    return judge(replayer.target, session.called[0])
