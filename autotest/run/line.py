"""What is between the drawing of a case and its verdict."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from autotest.cases.case import Rejection
from autotest.judge.judge import Judge
from autotest.judge.judgement import Judgement
from autotest.judge.stages import StagedJudge
from autotest.run.replayers import Answers, Replayer


@dataclass(slots=True)
class Line:
    """Cases on their way: those drawn, the chunks that are being replayed with what will come of them, who replays and
    who judges.

    A chunk is judged as soon as the target has answered, at the latest when the next one is full: a run that is killed
    while a slow body is drawn loses no case that could have been judged.
    """

    replayer: Replayer
    judge: Judge | StagedJudge
    drawn: list[Judgement] = field(default_factory=list)
    refused: list[tuple[Rejection, float]] = field(default_factory=list)
    sent: deque[tuple[list[Judgement], Answers]] = field(default_factory=deque)
