"""A case whose body did what no call tells is nobody's divergence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from autotest import random_tensor, torch
from autotest.cases.case import Case
from autotest.cases.drawer import Drawer
from autotest.judge.faithful import Faithful
from autotest.judge.judge import Judge
from autotest.judge.judgement import Judgement
from autotest.options import TestOptions
from autotest.oracle.undecidable import UNRECORDED, Doubt
from autotest.run.session import Session
from dual_object.program.program import Program
from dual_object.replay.observation import Observation
from support.pretended import Pretended, off, same, sound

PAST = Doubt("program", "eager_forward", UNRECORDED)


def past() -> Any:
    """Writes where no call and no version tells of it."""
    y = torch.exp(random_tensor(ndim=2, dim0=2, dim1=3, requires_grad=False))
    y.numpy()[:] = 4
    return y


def beside() -> Any:
    """The same, and gives another result besides."""
    return past(), torch.sin(random_tensor(ndim=1, requires_grad=False))


def judged(session: Session, target: Pretended, body: Callable[[], Any], cases: int = 1) -> list[Judgement]:
    """What comes of drawn cases on a target."""
    options = TestOptions(n=cases)
    drawer = Drawer(session.reference, "t.py::t", 0, "torch", options, body)
    judge = Judge(session.reference, target, options)
    judgements = []
    for index in range(cases):
        case = drawer.draw(index)
        assert isinstance(case, Case)
        judgements.append(Judgement(case, 0.0))
    judge.judge(judgements, target.eager([one.case.program for one in judgements]))
    return judgements


def test_what_no_call_tells_is_undecidable(session: Session) -> None:
    """A target that does what the calls say is not to blame, eagerly or in its graph."""
    for judgement in judged(session, Pretended(sound, same), past, cases=4):
        assert (judgement.verdict, judgement.divergences, judgement.doubts) == ("undecidable", [], [PAST])


def test_the_rest_is_judged(session: Session) -> None:
    """Of two results, the one that the calls tell of is the target's to answer for."""

    def wrong(seen: Observation, program: Program) -> Observation:
        return off(seen) if any(call.op == "sin" for call in program.calls) else seen

    [judgement] = judged(session, Pretended(wrong, same), beside)
    assert [one.op for one in judgement.divergences if not one.difference.phase.startswith("graph")] == ["sin"]
    assert PAST in judgement.doubts


def test_the_reference_is_asked_seldom(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where two cases were all that their body did, the others of the test are taken for that."""
    asked: list[Case] = []

    def counted(self: Faithful, case: Case) -> Any:
        asked.append(case)
        return otherwise(self, case)

    otherwise = Faithful._otherwise
    monkeypatch.setattr(Faithful, "_otherwise", counted)
    target = Pretended(lambda seen, program: off(seen), same)
    found = judged(session, target, lambda: torch.exp(random_tensor(ndim=2)), cases=5)
    assert {judgement.verdict for judgement in found} == {"divergent"}
    assert len(asked) == 2
