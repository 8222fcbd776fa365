"""What is between the drawing of a case and its verdict."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from autotest.cases.case import Rejection
from autotest.cases.dialect import Dialect
from autotest.compare.divergence import Divergence
from autotest.judge.judge import Judge
from autotest.judge.judgement import Judgement
from autotest.judge.second_call import drawing
from autotest.judge.stages import StagedJudge
from autotest.judge.survey import Survey
from autotest.ledger.entries import Ledger
from autotest.options import TestOptions
from autotest.run.replayers import Answers, Replayer
from autotest.run.session import Session
from autotest.workers.protocol import Target

AnyJudge = Judge | StagedJudge


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
    """The judge of what a replayer replays; where its target lists several executors, with one for each, which all draw
    the same second calls.
    """
    again = drawing(session.reference)

    def judge(target: Target, name: str) -> Judge:
        def known(divergence: Divergence) -> bool:
            return ledger.find(divergence.fingerprint(name)) is not None

        return Judge(session.reference, target, options, survey, replayer.consensus, dialect, known, again)

    if replayer.stages:
        return StagedJudge({name: judge(target, name) for name, target in replayer.stages.items()})
    return judge(replayer.target, session.options.target)
