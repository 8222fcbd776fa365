"""Laid-out cases that the reference refuses, that end the target, or whose op the target lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import SkipTest

import numpy as np
import pytest
import torch as pytorch

from autotest import DivergenceError, autotest, dual_tensor, oneof, torch
from autotest.cases.drawer import LAID, Drawer
from autotest.errors import RejectionError, UsageError
from autotest.judge.consensus import Consensus
from autotest.ledger.entries import Entry, Ledger, store
from autotest.options import RunOptions, TestOptions
from autotest.run.session import Session, current_session
from autotest.run.sparing.deaths import MOST_DEATHS, Deaths
from autotest.workers.inline import InlineTarget
from autotest.workers.protocol import Death
from dual_object.adapters.torch.adapter import Adapter
from dual_object.replay.observation import Failure, Observation
from generators import Factor
from reports import read_run
from support.fake_target import FakeTarget, lacking

DEATH = Death("crash", "killed by SIGABRT", 0, 0, "Check failed: mine")
A, B = ((Factor("index", (3,), turn), 1) for turn in (0, 1))
Run = Callable[..., tuple[list[dict[str, Any]], str]]


def sums() -> Any:
    """The sum of a matrix over one of its dimensions, or over one that it lacks."""
    x = dual_tensor(pytorch.tensor([[0.3, 1.7, -0.9], [2.3, -1.6, 0.7]]))
    return torch.sum(x, dim=oneof(0, -1, 5, 6).value(), keepdim=oneof(False, True).value())


@pytest.fixture
def target() -> FakeTarget:
    """A fake that agrees with PyTorch unless told otherwise."""
    return FakeTarget(Adapter())


@pytest.fixture
def session(target: FakeTarget, tmp_path: Path) -> Iterator[Session]:
    """A session whose target is the fake."""
    session = Session(
        RunOptions(target="torch", folder=tmp_path / "run", root=tmp_path, shrink=0, blame_total=0),
        lambda name: (InlineTarget(Adapter()), Consensus()),
    )
    session.supervisor = target  # type: ignore[assignment]
    session.nodeid = "test_a.py::test_b"
    token = current_session.set(session)
    yield session
    current_session.reset(token)
    session.close()


@pytest.fixture
def run(session: Session, tmp_path: Path) -> Run:
    """Runs `sums` as laid-out cases alone; gives the lines of the records that end cases, and what it raised."""

    def run_sums(**options: Any) -> tuple[list[dict[str, Any]], str]:
        wanted = {"n": 0, "coverage": "pairs", "auto_backward": False, "check_graph": False, **options}
        told = ""
        try:
            autotest(**wanted)(lambda: sums())()
        except DivergenceError as error:
            told = str(error)
        lines = [line for _, line in read_run(tmp_path / "run").lines()]
        return [line for line in lines if line["type"] in ("end", "left_out")], told

    return run_sums


def accepting(seen: Observation) -> Observation:
    """A target that sums over dimensions which are not there."""
    if not seen.outputs:
        seen.failures.append(Failure(0, "accepts_invalid", (), "accepted what the reference refuses with IndexError"))
    return seen


def dying(seen: Observation) -> Observation | Death:
    """A target that ends where rows are summed."""
    return DEATH if any(tensor.shape[0] == 2 for tensor in seen.outputs.values()) else seen


def test_every_refusal_is_shown_to_the_target(run: Run, target: FakeTarget) -> None:
    """In one request; that the op takes what it should refuse is one divergence."""
    target.answers = {"sum": accepting}
    ended, told = run(refusals="all")
    refused = [line for line in ended if line.get("verdict") == "rejected"]
    assert [line["key"] for line in refused] == ["test_a.py::test_b#2@laid", "test_a.py::test_b#3@laid"]
    assert {row["fingerprint"] for line in refused for row in line["divergences"]} == {
        "torch/eager_forward/accepts_invalid/sum/float32,dim=,keepdim=,refusal=dims"
    }
    assert [len(asked) for asked in target.asked if asked == [["sum"], ["sum"]]]
    assert "sum: sum accepted what the reference refuses with IndexError" in told


def test_refusals_are_left_out_by_default(run: Run, target: FakeTarget) -> None:
    """They are none of the test's domain."""
    target.answers = {"sum": accepting}
    ended, told = run()
    assert told == ""
    left_out = [line["key"] for line in ended if line["type"] == "left_out"]
    assert left_out[:2] == ["test_a.py::test_b#2@laid", "test_a.py::test_b#3@laid"]


def test_what_ends_the_target_by_itself_is_in_no_pair(run: Run, target: FakeTarget) -> None:
    """Each of its pairs would cost a process."""
    target.answers = {"sum": dying}
    ended, _ = run()
    crashed = [line["key"] for line in ended if line.get("verdict") == "crashed"]
    assert crashed == ["test_a.py::test_b#1@laid"]
    assert {line["reason"] for line in ended if "its corners" in (line.get("reason") or "")} == {
        "its corners are those by which test_a.py::test_b#1@laid ends the target, and others"
    }


def test_what_the_ledger_knows_to_end_the_target_is_not_run(
    run: Run, target: FakeTarget, session: Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`autotest ledger check` proves it; a run has better things to do, and says how many it leaves out."""
    target.answers = {"sum": dying}
    monkeypatch.setattr(session, "ledger", lambda: ledger_of(session, 1))
    ended, told = run()
    assert told == ""
    assert not [line for line in ended if line.get("verdict") == "crashed"]
    reasons = {line["key"]: line.get("reason") for line in ended if line["type"] == "left_out"}
    known = "the ledger knows that it ends the target: torch/eager_forward/crash/sum/float32"
    assert reasons["test_a.py::test_b#1@laid"] == known
    assert "its corners are those by which test_a.py::test_b#1@laid ends the target, and others" in reasons.values()
    deadly = [key for key, reason in reasons.items() if "end" in str(reason)]
    [reached] = [line for _, line in read_run(tmp_path / "run").lines() if line["type"] == "reached"]
    assert reached["laid_out"]["spared"] == len(deadly) > 1
    assert 0 < reached["laid_out"]["covered"] < reached["laid_out"]["pairs"]


def ledger_of(session: Session, index: int, facts: str = "float32", phase: str = "eager_forward") -> Ledger:
    """A ledger with a crash, proved by a laid-out case of `sums`."""
    drawer = Drawer(session.reference, "test_a.py::test_b", 0, "torch", TestOptions(auto_backward=False), sums)
    program = drawer.draw(index, origin=LAID).program
    fingerprint = f"torch/{phase}/crash/sum/{facts}"
    stored = store(program, {})
    entry = Entry(Path("l.toml"), fingerprint, "r", ">=0", ("t",), "m", "p", stored)
    return Ledger(Path("l.toml"), {fingerprint: entry})


@pytest.mark.parametrize(
    ("facts", "likely"), [("float32", True), ("float32,empty", False), ("int64", False), ("float32,expanded", False)]
)
def test_a_death_is_likely_whatever_the_arguments(session: Session, facts: str, likely: bool) -> None:
    """The entry's proof is of another dimension; but its dtype and what it needs are to be there."""
    deaths = Deaths(ledger_of(session, 1, facts))
    drawer = Drawer(session.reference, "test_a.py::test_b", 0, "torch", TestOptions(auto_backward=False), sums)
    program = drawer.draw(0, origin=LAID).program
    assert deaths.likely(program, session.target_info) == likely
    assert deaths.known(program, session.target_info) is None


def test_a_death_is_likely_where_a_case_of_the_test_has_met_it(session: Session) -> None:
    """Whether that was laid out or drawn."""
    drawer = Drawer(session.reference, "test_a.py::test_b", 0, "torch", TestOptions(auto_backward=False), sums)
    program = drawer.draw(0, origin=LAID).program
    laid_out, drawn = Deaths(Ledger()), Deaths(Ledger())
    assert not laid_out.likely(program, session.target_info)
    laid_out.met((A,), "k")
    drawn.met(None, "k")
    assert laid_out.likely(program, session.target_info)
    assert drawn.likely(program, session.target_info)


def test_cases_that_may_end_the_target_are_not_sent_together(
    run: Run, target: FakeTarget, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of a test that has not ended it are, as long as the ledger knows no better."""

    def sent() -> list[bool]:
        """How the chunks of a run were sent; what runs again alone is none."""
        chunks = zip(target.asked, target.together, strict=True)
        return [together for asked, together in chunks if len(asked) > 1]

    run(n=30)
    assert {*sent()} == {True}
    target.asked.clear()
    target.together.clear()
    target.answers = {"sum": lambda seen: DEATH if len(sent()) == 1 else seen}
    run(n=60, coverage="none")
    assert sent() == [True, True, False], "the second is on its way when the first is judged"
    target.asked.clear()
    target.together.clear()
    target.answers = {}
    monkeypatch.setattr(session, "ledger", lambda: ledger_of(session, 1))
    run(n=30, coverage="none")
    assert sent() == [False, False]


@pytest.mark.parametrize(
    ("facts", "index", "known"),
    [("float32", 1, True), ("float32", 0, False), ("float32,empty", 1, False), ("int64", 1, False)],
)
def test_the_ledger_knows_a_case_by_op_dtype_arguments_and_facts(
    session: Session, facts: str, index: int, known: bool
) -> None:
    """Another dimension, another dtype, or inputs without what the entry needs are another case."""
    deaths = Deaths(ledger_of(session, index, facts))
    drawer = Drawer(session.reference, "test_a.py::test_b", 0, "torch", TestOptions(auto_backward=False), sums)
    found = deaths.known(drawer.draw(1, origin=LAID).program, session.target_info)
    assert (found is not None) == known


def test_what_needs_nothing_needs_the_form_of_its_proof(session: Session) -> None:
    """On inputs of other dimensions, or where PyTorch refuses one of both alone, another case ends, or none."""
    deaths = Deaths(ledger_of(session, 1))
    drawer = Drawer(session.reference, "test_a.py::test_b", 0, "torch", TestOptions(auto_backward=False), sums)
    program = drawer.draw(1, origin=LAID).program
    assert deaths.known(program, session.target_info) is not None
    [x] = program.inputs
    other = replace(program, inputs=[replace(x, data=x.data[None])])
    refused = replace(program, calls=[*program.calls[:-1], replace(program.calls[-1], raises=("IndexError",))])
    for program in (other, refused):
        assert deaths.likely(program, session.target_info)
        assert deaths.known(program, session.target_info) is None


def test_an_end_that_is_only_counted_spares_nothing(session: Session) -> None:
    """It comes by chance: the next time the same case may show another thing, or none. It is waited for by itself."""
    ledger = ledger_of(session, 1)
    [(fingerprint, entry)] = ledger.entries.items()
    deaths = Deaths(Ledger(ledger.path, {fingerprint: replace(entry, strict="seen")}))
    drawer = Drawer(session.reference, "test_a.py::test_b", 0, "torch", TestOptions(auto_backward=False), sums)
    program = drawer.draw(1, origin=LAID).program
    assert deaths.likely(program, session.target_info)
    assert deaths.known(program, session.target_info) is None


@pytest.mark.parametrize(("phase", "known"), [("eager_backward", (False, True)), ("graph_forward", (False, False))])
def test_the_ledger_knows_a_case_that_ends_the_target_backward(
    session: Session, phase: str, known: tuple[bool, bool]
) -> None:
    """One that is not differentiated does not come so far; what graphs end in says nothing of eager."""
    deaths = Deaths(ledger_of(session, 1, phase=phase))
    drawer = Drawer(session.reference, "test_a.py::test_b", 0, "torch", TestOptions(auto_backward=False), sums)
    forward = drawer.draw(1, origin=LAID).program
    backward = replace(forward, cotangents={1: np.ones(3, np.float32)})
    for program, expected in zip((forward, backward), known, strict=True):
        assert deaths.likely(program, session.target_info) == expected
        assert (deaths.known(program, session.target_info) is not None) == expected


def test_deaths_are_bounded() -> None:
    """A corner by itself always runs; pairs do as long as few cases have ended the target."""
    deaths = Deaths(Ledger())
    deaths.met((A,), "k")
    assert deaths.foreseen((A,)) is None
    assert deaths.foreseen((B, (A[0], 2))) is None
    assert deaths.foreseen((A, B)) == "its corners are those by which k ends the target, and others"
    for level in range(2, MOST_DEATHS + 1):
        deaths.met(((B[0], level),), "k")
    assert deaths.foreseen((B, (A[0], 9))) == "4 laid-out cases of the test end the target"


def test_an_ordinary_case_that_ends_the_target_ends_the_test(run: Run, target: FakeTarget) -> None:
    """Every other one would do so, too."""
    target.answers = {"sum": lambda seen: DEATH}
    ended, _ = run(missing="count")
    assert [line.get("verdict") for line in ended[:1]] == ["crashed"]
    assert {line["reason"] for line in ended[1:] if "Dimension out of range" not in line["reason"]} == {
        "the ordinary case test_a.py::test_b#0@laid ends the target",
        "it is an earlier one again",
    }


def test_what_the_ledger_knows_from_the_start_is_skipped(
    target: FakeTarget, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it ran."""
    target.answers = {"sum": lambda seen: DEATH}
    monkeypatch.setattr(session, "ledger", lambda: ledger_of(session, 0))
    with pytest.raises(SkipTest) as caught:
        autotest(n=0, coverage="pairs", auto_backward=False)(lambda: sums())()
    assert str(caught.value) == "the ledger knows that its ordinary case ends the target"
    assert not target.asked


def test_an_op_that_the_target_lacks_is_asked_for_once(run: Run, target: FakeTarget) -> None:
    """Its corners would say no more, where what is missing is only counted."""
    target.answers = {"sum": lacking}
    ended, _ = run(missing="count")
    assert len(ended) == 1


@pytest.mark.parametrize("coverage", ["each", "none"])
def test_no_drawn_case_wants_pairs(coverage: str) -> None:
    """`n=0` is a mistake elsewhere."""
    with pytest.raises(UsageError) as caught:
        autotest(n=0, coverage=coverage)
    assert (
        str(caught.value)
        == "n=0, but should be a whole number of cases, at least 1 (0 with coverage='pairs') [@autotest(...)]"
    )


def test_what_lays_out_nothing_is_skipped(session: Session) -> None:
    """A run without coverage looks at nothing then."""
    session.options = replace(session.options, coverage="none")
    with pytest.raises(SkipTest) as caught:
        autotest(n=0, coverage="pairs")(lambda: sums())()
    assert str(caught.value) == (
        "its cases are laid out, and the run lays out none: it wants plain inputs or no coverage"
    )


def test_what_is_refused_from_the_start_is_red(session: Session) -> None:
    """No case ran, and that is the test's own fault."""
    x = pytorch.tensor([0.3])
    with pytest.raises(RejectionError) as caught:
        autotest(n=0, coverage="pairs")(lambda: torch.sum(dual_tensor(x), dim=7))()
    told = "test_a.py::test_b: the reference refused each of 8 laid-out cases: correct the call"
    assert str(caught.value).splitlines()[0] == told
