"""What a test's cases come to: levels, evidence, stored Programs, and the closer look at what is red."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autotest.cases.drawer import Drawer
from autotest.cases.store import ReplayError, Store, read, whole_id
from autotest.compare.difference import Difference, Rules
from autotest.compare.divergence import Divergence
from autotest.judge.judgement import Check, Checks
from autotest.ledger.entries import Entry, Ledger
from autotest.options import RunOptions, TestOptions
from autotest.oracle.attribution import Attribution
from autotest.oracle.undecidable import Doubt
from autotest.run.results import Verdicts
from autotest.run.session import Session
from autotest.shrink import shrinker
from autotest.shrink.shrinker import Shrunk
from dual_object.adapters.torch.adapter import Adapter
from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.values import Ref
from dual_object.replay.adapter import TargetInfo
from dual_object.replay.observation import Seen

NODEID = "test_x.py::test_it"
KEPT = "test_x.py::test_it#0"


class Records:
    """A record file that is kept in memory: the method that was called, and with what."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **named: self.lines.append((name, args, named))

    def of(self, name: str) -> list[tuple[Any, ...]]:
        """What a method was called with."""
        return [args for called, args, _ in self.lines if called == name]


@pytest.fixture
def records() -> Records:
    """What the run has recorded."""
    return Records()


@pytest.fixture
def session(tmp_path: Path, records: Records) -> Session:
    """A session that keeps its records in memory and its Programs in a folder, and starts no target."""
    made = Session(RunOptions(folder=tmp_path / "run"))
    made.writer = records  # type: ignore[assignment]
    made.reference = Adapter()
    return made


@pytest.fixture
def drawer(session: Session) -> Drawer:
    """Draws the cases of the test."""
    return Drawer(session.reference, "test_x.py::test_it", 0, "oneflow", TestOptions(n=1), lambda: None)


def results(session: Session, **options: Any) -> Verdicts:
    """The results of a test with these options."""
    return Verdicts(session, NODEID, TestOptions(n=4, **options), Ledger())


def divergence(kind: str = "value", op: str = "exp") -> Divergence:
    """A wrong value, or something of another kind."""
    x = Input(0, "", np.array([1.0, 2.0], np.float32), "float32")
    program = Program([x], [Call("function", op, (Ref(0),), {}, out=Ref(1))], Ref(1))
    right, wrong = (Seen("float32", (2,), "cpu", False, np.array([1.0, last], np.float32)) for last in (2.0, 3.0))
    words = "t0 differs in 1 of 2 elements: [1] is 3.0, but should be 2.0"
    return Divergence(Difference("eager_forward", kind, "t0", words, 0, "output", "1", right, wrong), program, 0)


def test_case_is_recorded(session: Session, records: Records) -> None:
    """A case's end has its verdict, its checks and its doubts; the test and the run count it."""
    verdicts = results(session)
    doubts = [Doubt("sort", "eager_forward", "tie"), Doubt("sort", "eager_forward", "tie")]
    checks = Checks(Check("verified"), Check("nothing", "nothing to differentiate"))
    verdicts.write(
        KEPT, "undecidable", 0.0, Program(), [], reason="sort: tie", doubts=doubts, ops=["sort"], graph=checks
    )
    [(name, args, named)] = records.lines
    assert (name, args) == ("end", (NODEID, KEPT, "undecidable"))
    assert named["graph"] == {"forward": "verified", "backward": "nothing to differentiate"}
    assert named["undecidable"] == [("sort", "eager_forward", "tie")]
    assert (named["reason"], named["ops"], named["divergences"]) == ("sort: tie", ["sort"], [])
    assert (verdicts.ended, session.counts["undecidable"]) == ({KEPT: "undecidable"}, 1)


@pytest.mark.parametrize(
    ("cases", "told"),
    [
        (["undecidable"] * 5, "5 drawn cases"),
        (["undecidable"] * 5 + ["rejected", "skipped"], "5 drawn cases"),
        (["undecidable"] * 4, None),
        (["undecidable"] * 5 + ["aligned"], None),
        (["undecidable"] * 5 + ["divergent"], None),
        (["aligned"] * 5, None),
    ],
)
def test_undecided(session: Session, cases: list[Any], told: str | None) -> None:
    """Where no drawn case could be decided it is told with the commonest reason, whatever the corners have come to."""
    verdicts = results(session)
    verdicts.write(f"{NODEID}#0@laid", "aligned", 0.0, Program(), [])
    for index in range(3):
        verdicts.write(f"{NODEID}#{index + 1}@laid", "undecidable", 0.0, Program(), [], reason="sort: order")
    for index, verdict in enumerate(cases):
        reason = "sort: kink" if index == 0 else "sort: tie"
        verdicts.write(f"{NODEID}#{index}", verdict, 0.0, Program(), [], reason=reason)
    words = (
        f"none of its {told} could be decided, so the test compares nothing; the commonest reason (4 times) is sort: "
        "tie: draw others"
    )
    assert verdicts.undecided == (words if told else None)


def test_cause_of_what_is_raised(session: Session, records: Records) -> None:
    """A row of what is raised has its words without their numbers; one of values has none."""
    base = divergence("exception")
    words = "exp raised RuntimeError: no kernel for (2, 3)"
    raised = replace(base, difference=replace(base.difference, message=words))
    results(session).write(KEPT, "divergent", 0.0, Program(), [raised, divergence()])
    [(_, _, named)] = records.lines
    assert [row.get("cause") for row in named["divergences"]] == ["no kernel for ()", None]


def test_levels(session: Session) -> None:
    """What is red, counted, stricter or excused is told apart; only what is red or excused fails the test."""
    wrong, lacking = divergence(), divergence("missing")
    counting = results(session, missing="count")
    counting.write(KEPT, "divergent", 0.0, Program(), [wrong, lacking])
    assert [row["level"] for row in counting.rows] == ["wrong"]
    assert counting.fingerprints == {wrong.fingerprint("oneflow"), lacking.fingerprint("oneflow")}
    refusing = results(session, unsupported="count")
    refusing.write(KEPT, "divergent", 0.0, Program(), [divergence("unsupported"), lacking])
    assert [(row["kind"], row["level"]) for row in refusing.rows] == [("missing", "refuses")]
    loose = results(session)
    loose.write(KEPT, "divergent", 0.0, Program(), [wrong, lacking], [wrong])
    assert [(row["kind"], row["level"]) for row in loose.rows] == [("missing", "refuses")]
    session.excuse = "known since long"
    excused = results(session)
    excused.write(KEPT, "divergent", 0.0, Program(), [wrong])
    assert (excused.rows, [row["reason"] for row in excused.excused]) == ([], ["known since long"])


def test_new_one_names_what_the_ledger_has(session: Session, tmp_path: Path) -> None:
    """Beside a new divergence stands the entry that differs in dtype or needs alone, if it is about this version."""
    session.target_info = lambda: TargetInfo("oneflow", {"oneflow": "0.9.0"}, ("cpu",), ())  # type: ignore[method-assign]
    near = "oneflow/eager_forward/value/exp/float64,tie"
    reasons = []
    for versions, text in (("==0.9.0", near), ("==0.8.0", near), ("==0.9.0", near.replace("exp", "tan"))):
        entry = Entry(tmp_path, text, "it is rounded", versions, (), "m", "p", "s")
        verdicts = Verdicts(session, NODEID, TestOptions(n=4), Ledger(tmp_path, {text: entry}))
        verdicts.write(KEPT, "divergent", 0.0, Program(), [divergence()])
        [row] = verdicts.rows
        reasons.append((row["level"], row["reason"]))
    assert reasons == [("wrong", f"the ledger has {near}: it is rounded"), ("wrong", None), ("wrong", None)]


def test_first_cases_keep_evidence_and_programs(session: Session, records: Records, tmp_path: Path) -> None:
    """Three cases of a fingerprint are kept whole, later ones as rows alone; what is stored will have a script."""
    verdicts = results(session)
    for index in range(4):
        verdicts.write(f"{NODEID}#{index}", "divergent", 0.0, Program(), [divergence()])
    assert [row["evidence"] is None for row in verdicts.rows] == [False, False, False, True]
    id_ = verdicts.rows[0]["id"]
    stored = sorted(str(path.relative_to(tmp_path / "run")) for path in (tmp_path / "run").rglob("*.json"))
    names = [f"{id_}-main-{number}.json" for number in (1, 2, 3)]
    assert stored == [f"programs/{name}" for name in names] + [f"programs/proofs/{name}" for name in names]
    note = json.loads((tmp_path / "run" / "programs" / names[0]).read_text())["note"]
    assert list(note) == ["row", "rules", "shown"]
    note = json.loads((tmp_path / "run" / "programs" / "proofs" / names[0]).read_text())["note"]
    assert list(note) == ["message", "rules", "shown"]
    assert note["message"] == "exp: t0 differs in 1 of 2 elements: [1] is 3.0, but should be 2.0"
    assert verdicts.triage.scripts == {id_: tmp_path / "run" / "repros" / id_ / "repro.py"}


def test_store_gives_back(session: Session, tmp_path: Path) -> None:
    """What was shrunk is found first, or the original where that is asked for; notes come with it."""
    one, rules = divergence(), Rules(rtol=0.5, atol=0.0)
    row = one.row("oneflow", NODEID, KEPT)
    store = Store(tmp_path / "runs" / "0001")
    assert store.save(one, row, rules, "main", 1)
    assert not store.save(one, row, rules, "main", 1)
    assert store.path(row["id"]) == store.path(row["id"], original=True)
    store.save_shrunk(one.proof, row, rules, "main")
    shrunk, whole = store.path(row["id"]), store.path(row["id"], original=True)
    assert shrunk is not None
    assert whole is not None
    assert (shrunk.name, whole.name) == (f"{row['id']}-main-shrunk.json", f"{row['id']}-main-1.json")
    assert [stored.shown for stored in store.programs(row["id"])] == [None, one.shown, None]
    assert [note["message"] for _, note in store.proofs(row["id"])] == [row["message"]]
    back = read(whole)
    assert (back.row["fingerprint"], back.rules, back.shown) == (row["fingerprint"], rules, one.shown)
    whole.write_text("{")
    with pytest.raises(ReplayError, match=r"^.* cannot be read as a stored Program: "):
        read(whole)


def test_id_by_its_first_digits(tmp_path: Path) -> None:
    """Four digits are enough where no other id has them; of several the candidates are named."""
    run = tmp_path / "runs" / "20260101-000000-0-1"
    wrong = divergence().row("oneflow", NODEID, KEPT)
    for id_, worker in (("abcd0001", "main"), ("abcd0002", "gw0"), ("abcd0002", "gw1"), ("0a1b2c3d", "main")):
        Store(run).save(divergence(), {**wrong, "id": id_}, Rules(), worker, 1)
    assert whole_id("0a1b", tmp_path) == whole_id("0a1b2c3d", tmp_path) == whole_id("0a1b", run) == "0a1b2c3d"
    assert whole_id("abcd0002", tmp_path) == "abcd0002"
    assert whole_id("ffff", tmp_path) == "ffff"
    with pytest.raises(ReplayError) as several:
        whole_id("abcd", tmp_path)
    assert str(several.value) == (
        f"ID='abcd' is short for several:\n  abcd0001 {wrong['fingerprint']}\n  abcd0002 {wrong['fingerprint']}"
    )
    for id_ in ("abc", "../x"):
        with pytest.raises(ReplayError) as refused:
            whole_id(id_, tmp_path)
        assert str(refused.value) == (
            f"ID={id_!r}, but should be the eight digits that a report names, or at least the first 4"
        )


def test_inline_is_not_looked_at_closer(session: Session, records: Records, drawer: Drawer) -> None:
    """Of a test that runs inline nothing is run again, and its records say so."""
    verdicts = results(session)
    verdicts.write(KEPT, "divergent", 0.0, Program(), [divergence()])
    verdicts.triage.run(drawer, inline=True)
    words = "its test runs inline, where the target is not run again"
    fingerprint = verdicts.rows[0]["fingerprint"]
    shrunk, blame = Shrunk(None, words, 0.0, 0).record(), Attribution("not judged", words).record()
    assert verdicts.triage.evidence == {fingerprint: {"shrunk": shrunk, "blame": blame}}
    assert records.of("shrunk") == [(NODEID, fingerprint, shrunk)]
    assert records.of("blamed") == [(NODEID, fingerprint, blame)]
    assert words in " ".join(verdicts.message().split())


def test_fault_of_the_harness_costs_no_divergence(
    session: Session, records: Records, drawer: Drawer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where shrinking fails by itself, that is recorded, and the divergence is told all the same."""

    def broken(*args: Any) -> Shrunk:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(shrinker, "shrink", broken)
    verdicts = results(session)
    missing = divergence("missing")  # which side is wrong needs no run
    verdicts.write(KEPT, "divergent", 0.0, Program(), [missing])
    verdicts.triage.run(drawer, inline=False)
    fault = f"shrinking {missing.fingerprint('oneflow')} failed: ZeroDivisionError: planted"
    [(test, told, trace)] = records.of("fault")
    assert (test, told) == (NODEID, fault)
    assert trace.startswith("Traceback (most recent call last):\n")
    assert trace.endswith('    raise ZeroDivisionError("planted")\nZeroDivisionError: planted\n')
    evidence: Mapping[str, Any] = verdicts.triage.evidence[missing.fingerprint("oneflow")]
    assert evidence["shrunk"]["note"] == (
        f"a fault of the harness, please report it with its traceback, which the run's records have: {fault}"
    )
    assert evidence["blame"]["reason"] == "it lacks what PyTorch has"


def test_options_switch_it_off(tmp_path: Path, records: Records, drawer: Drawer) -> None:
    """With no seconds for either nothing is looked at."""
    made = Session(RunOptions(folder=tmp_path / "run", shrink=0.0, blame_total=0.0))
    made.writer = records  # type: ignore[assignment]
    verdicts = results(made)
    verdicts.write(KEPT, "divergent", 0.0, Program(), [divergence()])
    verdicts.triage.run(drawer, inline=False)
    assert verdicts.triage.evidence == {}
