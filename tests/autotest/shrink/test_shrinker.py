"""Divergences become minimal with the fingerprint they had, in one run with planted faults and beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from autotest import budget as budgets
from autotest import dual, random, random_tensor, torch
from autotest.budget import Allowance, Budget
from autotest.cases.drawer import Drawer
from autotest.cases.store import find
from autotest.compare.difference import Difference, Rules, failure_difference
from autotest.compare.divergence import Divergence
from autotest.judge.standalone import trial
from autotest.options import TestOptions
from autotest.run.session import Session
from autotest.shrink import choices as hypothesis_source
from autotest.shrink import shrinker as shrinking
from autotest.shrink.choices import UnavailableError
from autotest.shrink.shrinker import Interestingness, Shrunk, shrink, worst_first
from dual_object.program.calls import Call
from dual_object.program.program import Program
from dual_object.program.values import Ref
from dual_object.record.recording import Recording
from dual_object.replay.observation import Failure, FailureKind
from reports import read_run, render, summarize
from support.runs import Outcome, run_autotest, run_pytest
from support.trainings import batch, recorded

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run(shared_run: Callable[..., Outcome]) -> Outcome:
    """A run of all bodies, with more seconds than a busy machine needs."""
    return shared_run(
        "shrinking",
        {"test_shrinking.py": "shrinking.py"},
        "--autotest-shrink=60",
        "--autotest-shrink-total=1000",
        "--autotest-memory-limit=1G",
        env={"AUTOTEST_FAULT": "faults:shrinkable"},
    )


def _shrunk(run: Outcome, test: str) -> dict[str, dict[str, Any]]:
    """What came of each divergence of a test, by phase, kind and op."""
    return {
        "/".join(record["fingerprint"].split("/")[1:4]): record["shrunk"]
        for record in run.records("shrunk")
        if record["test"].endswith(f"::{test}")
    }


# Per test: the fingerprint's middle, the program, its elements and one of its lines of values.
MINIMAL = {
    "test_chain": ("eager_forward/value/sin", "sin", 1, ["[0.0], dtype=torch.float32)"]),
    "test_condition": ("eager_forward/value/tan", "tan", 6, None),
    "test_backward": ("eager_backward/value/cosh", "cosh", 1, ["dtype=torch.float32, requires_grad=True)"]),
    "test_crash": ("eager_forward/crash/cos", "cos", 1, ["[0.0], dtype=torch.float32)"]),
    "test_hungry": ("eager_forward/out_of_memory/erf", "erf", 1, ["[0.0], dtype=torch.float32)"]),
    "test_graph": ("graph_forward/value/exp", "exp", 1, ["[0.0], dtype=torch.float32)"]),
}


@pytest.mark.parametrize("test", MINIMAL)
def test_minimal(run: Outcome, test: str) -> None:
    """One call is left of each case, on as few and as simple elements as its fault needs."""
    fingerprint, op, elements, endings = MINIMAL[test]
    shrunk = _shrunk(run, test)[fingerprint]
    assert (shrunk["calls"], shrunk["elements"]) == (1, elements), shrunk
    assert f" = torch.{op}(" in shrunk["program"]
    assert shrunk["blamed_line"] == 2
    if endings is not None:
        assert [value.endswith(end) for value, end in zip(shrunk["values"], endings, strict=True)] == [True]


HANG = """
from autotest import autotest, random_tensor, torch


@autotest(n=1, check_graph=False, auto_backward=False)
def test_hang():
    return torch.sinh(random_tensor(ndim=2, dim0=4, dim1=3))
"""


def test_hang(tmp_path: Path) -> None:
    """A target that hangs is waited for a short while by each candidate, and for longer by the result."""
    seconds = ("--autotest-shrink=60", "--autotest-case-timeout=10")
    run = run_pytest(tmp_path, {"test_x.py": HANG}, *seconds, env={"AUTOTEST_FAULT": "faults:shrinkable"})
    shrunk = _shrunk(run, "test_hang")["eager_forward/timeout/sinh"]
    assert (shrunk["calls"], shrunk["elements"]) == (1, 1)
    assert shrunk["values"] == ["x = torch.tensor([0.0], dtype=torch.float32)"]


def test_slow_answer_is_no_hang(session: Session) -> None:
    """What only answers late is not told as the shrunk form of a hang."""
    _, divergence = _diverging(session)
    interesting = Interestingness(session.reference, session.supervisor, "torch", Rules(), divergence, Allowance(0.0))
    interesting.simplest = Program([], [Call("function", "zeros", (1,), {}, out=Ref(0))], Ref(0)), divergence
    assert shrinking._sure(interesting) == ["what was found answers when it is given longer"]
    assert interesting.simplest is None
    interesting.simplest = divergence.program, divergence
    assert shrinking._sure(interesting) == []


def test_no_shape_becomes_exceptional(session: Session) -> None:
    """A Program comes to no 0-dim or empty tensor or state of a module where the divergent one has none."""
    _, divergence = _diverging(session)
    interesting = Interestingness(session.reference, session.supervisor, "torch", Rules(), divergence)
    [x] = divergence.proof.inputs
    few = [replace(divergence.proof, inputs=[replace(x, data=data, strides=None)]) for data in _exceptional(x.data)]
    made = Call("module", "nn.Linear", (0, 1), {}, out=Ref(99), state={"weight": np.zeros((1, 0), np.float32)})
    few.append(replace(divergence.proof, calls=[made, *divergence.proof.calls]))
    assert [interesting(program) for program in few] == [False] * 3
    assert interesting.runs == 0
    assert interesting(divergence.proof)
    interesting.shapes = frozenset({"0-dim"})
    interesting(few[0])
    assert interesting.runs == 2


def test_training_stays_wrong_in_its_part(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a training shows in another part of a step, or of another kind of value, is another divergence."""

    def body(recording: Recording) -> object:
        layer = torch.nn.Linear(2, 1)
        torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)
        return layer(batch(recording)).mean()

    program = recorded(body)
    assert program.training is not None
    values = {
        (part.name, shown.what): (part.call, str(id_))
        for part in program.training.steps[0].parts
        for id_, shown in part.values.items()
    }

    def of(part: str, what: str) -> Divergence:
        call, key = values[part, what]
        return Divergence(Difference("eager_update", "value", "", "", call, key=key), program, call)

    wanted, state = of("update", "parameter"), of("update", "momentum_buffer")
    interesting = Interestingness(session.reference, session.supervisor, "torch", Rules(), wanted)
    for shown, stands in ((state, False), (wanted, True)):
        assert shown.fingerprint("torch") == wanted.fingerprint("torch")
        monkeypatch.setattr(shrinking, "trial", lambda *given, shown=shown, **named: [shown])
        assert interesting(program) == stands


@pytest.mark.parametrize("kind", ["exception", "exception_class"])
def test_a_refusal_stays_the_same(session: Session, monkeypatch: pytest.MonkeyPatch, kind: FailureKind) -> None:
    """Another class of exception of the target's has another cause, though its fingerprint is the same."""
    program = Program([], [Call("function", "zeros", (1,), {}, out=Ref(0), raises=("TypeError",))], Ref(0))

    def of(raised: str) -> Divergence:
        failure = Failure(0, kind, (raised,), "no")
        return Divergence(failure_difference(program, failure, "eager_forward"), program, 0)

    wanted = of("ValueError")
    interesting = Interestingness(session.reference, session.supervisor, "torch", Rules(), wanted)
    for shown, stands in ((of("IndexError"), False), (of("ValueError"), True)):
        assert shown.fingerprint("torch") == wanted.fingerprint("torch")
        monkeypatch.setattr(shrinking, "trial", lambda *given, shown=shown, **named: [shown])
        assert interesting(program) == stands


def _exceptional(data: np.ndarray) -> list[np.ndarray]:
    return [data.reshape(-1)[0], data.reshape(-1)[:0]]


def test_condition_is_met_exactly(run: Outcome) -> None:
    """A fault that needs six elements and one of them above a half keeps five zeros and a one."""
    [told] = _shrunk(run, "test_condition")["eager_forward/value/tan"]["values"]
    numbers = told.partition("(")[2].partition("dtype")[0].strip("[], ").replace("[", "").replace("]", "")
    assert sorted(map(float, numbers.split(", "))) == [0.0] * 5 + [1.0]


def test_draw_that_the_target_accepts(run: Outcome) -> None:
    """A draw that only the reference refuses shrinks as well, and is refused by it still."""
    shrunk = _shrunk(run, "test_accepts_invalid")["eager_forward/accepts_invalid/mm"]
    assert "torch.mm(" in shrunk["program"]
    assert "# raises RuntimeError" in shrunk["program"]
    assert shrunk["calls"] == 1


def test_another_failure(run: Outcome) -> None:
    """Where the case shows something else when it runs again, that is said, and nothing is shown as shrunk."""
    shrunk = _shrunk(run, "test_fickle")["eager_forward/value/asinh"]
    assert shrunk["program"] is None
    assert shrunk["note"] == "run again, it became another failure: torch/eager_forward/shape/asinh/float32"
    assert "not shrunk: run again, it became another failure:" in run.out


def test_inline_is_not_shrunk(run: Outcome) -> None:
    """A test that runs in pytest's own process says so."""
    [shrunk] = _shrunk(run, "test_inline").values()
    assert shrunk["note"] == "its test runs inline, where the target is not run again"


def test_both_programs_are_kept(run: Outcome) -> None:
    """`autotest replay` finds the shrunk Program, and the original where that is asked for."""
    [row] = {
        row["id"] for end in run.ends("test_chain") for row in end["divergences"] if row["phase"] == "eager_forward"
    }
    report = run.folder / "autotest-report"
    small, large = find(row, report), find(row, report, original=True)
    assert small.name == f"{row}-main-shrunk.json"
    assert large.name == f"{row}-main-1.json"
    program, note = Program.load(small)
    assert (program.ops(), note["row"]["fingerprint"]) == (["sin"], "torch/eager_forward/value/sin/float32")
    assert Program.load(large)[0].ops() == ["relu", "sin", "abs"]


def test_memory_is_replayed_within_its_limit(run: Outcome) -> None:
    """`autotest replay` ends a target that takes memory without end where it is told to, and its script at the limit of
    the run.
    """
    [row] = [row for end in run.ends("test_hungry") for row in end["divergences"]]
    assert row["memory_limit"] == 1 << 30
    fault = {"AUTOTEST_FAULT": "faults:shrinkable"}
    done = run_autotest(run.folder, "replay", row["id"], "--memory-limit", "900M", env=fault)
    assert done.returncode == 1, done
    assert done.stdout.startswith(f"{row['id']} stands: 1 divergence in 1 of 1 case\n")
    assert "of memory, more than its limit of 900 MiB, and was" in done.stdout
    [path] = run.folder.glob(f"autotest-report/runs/*/repros/{row['id']}/repro.py")
    assert "\nMEMORY = 1073741824\n" in path.read_text()


def test_told_in_every_report(run: Outcome) -> None:
    """The failed test, the summary and its data show the shrunk program beside the original."""
    folder = next((run.folder / "autotest-report" / "runs").iterdir())
    summary = summarize(read_run(folder))
    shrunk = summary.evidence["torch/eager_forward/value/sin/float32"].shrunk
    assert shrunk is not None
    assert shrunk["calls"] == 1
    text = render(summary, width=100, color=False, encoding="utf-8", page=None)
    assert "shrunk to 1 call, 1 element (" in text
    failed = run.out.partition("= FAILURES =")[2].partition("= autotest =")[0]
    assert "shrunk to 1 call, 1 element (" in failed


# Beside a run: the warm worker of the session, and two importable functions as one dual op.


def plain(x: Any) -> Any:
    """What the reference does."""
    return x + 0


def shifted(x: Any) -> Any:
    """What the target does."""
    return x + 1


def _body() -> Any:
    x = random_tensor(ndim=2, dim0=random(2, 5), dim1=random(3, 8))
    return torch.abs(dual(reference=plain, target=shifted, name="shifted")(torch.relu(x)))


def _diverging(session: Session) -> tuple[Drawer, Divergence]:
    drawer = Drawer(session.reference, "test_it", 0, "torch", TestOptions(n=1), _body)
    case = drawer.draw(0)
    found = trial(session.reference, session.supervisor, case.program, Rules(), graph=False)
    return drawer, next(one for one in found if one.difference.phase == "eager_forward")


def _shrink(session: Session, budget: Budget[Shrunk]) -> Shrunk:
    drawer, divergence = _diverging(session)
    return shrink(session.reference, session.supervisor, drawer, Rules(), divergence, (0, drawer.origin), budget)


def test_shrunk_once_per_run(session: Session) -> None:
    """A fingerprint of a second test is not shrunk again; what was spent is gone from the run's seconds."""
    budget = Budget[Shrunk](100.0, each=30.0)
    first = _shrink(session, budget)
    assert (first.note, first.program and first.program.ops()) == (None, ["shifted"])
    assert budget.left == pytest.approx(100.0 - first.seconds)
    assert _shrink(session, budget) is first


def test_budget_is_spent(session: Session) -> None:
    """Where the run has no seconds left, each further divergence says so."""
    budget = Budget[Shrunk](120.0, each=10.0)
    budget.left = 0.0
    assert _shrink(session, budget) == Shrunk(
        None, "the 120 s that this process has for shrinking are spent; --shrink-total gives more", 0.0, 0
    )


def test_seconds_of_one_divergence_are_spent(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that is cut short keeps what it had, and says so; one that had nothing says that alone."""
    shrunk = _shrink(session, Budget(100.0, each=1e-9))
    assert (shrunk.program, shrunk.note) == (None, "its 0 s were spent before it was minimal; --shrink gives more")
    scarce = Budget[Shrunk](100.0, each=10.0)
    scarce.left = 1e-9
    assert _shrink(session, scarce).note == "its 0 s were spent before it was minimal; --shrink-total gives more"
    moments = count(step=8.0)  # each look at the clock is eight seconds later
    monkeypatch.setattr(budgets, "time", SimpleNamespace(monotonic=lambda: next(moments)))
    shrunk = _shrink(session, Budget(100.0, each=30.0))
    assert shrunk.program is not None
    assert shrunk.note == "its 30 s were spent before it was minimal; --shrink gives more"


def test_without_hypothesis_the_program_is_reduced(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another Hypothesis costs the choices only, with a sentence."""

    def unavailable() -> None:
        raise UnavailableError("Hypothesis 9 is another")

    monkeypatch.setattr(shrinking, "check_available", unavailable)
    monkeypatch.setattr(hypothesis_source, "_minimise", None)
    shrunk = _shrink(session, Budget(100.0, each=30.0))
    assert shrunk.note == "choices were not shrunk: Hypothesis 9 is another"
    assert shrunk.program is not None
    assert (shrunk.program.ops(), shrunk.program.inputs[0].data.size) == (["shifted"], 1)


def test_the_worst_comes_first() -> None:
    """What ends the target is shrunk first, then what is wrong, then what it refuses."""
    rows = [
        {"id": "a", "kind": "missing", "level": "refuses"},
        {"id": "b", "kind": "value", "level": "wrong"},
        {"id": "c", "kind": "crash", "level": "wrong"},
        {"id": "d", "kind": "dtype", "level": "wrong"},
    ]
    assert [row["id"] for row in worst_first(rows)] == ["c", "b", "d", "a"]


REMEMBERED = """
from autotest import autotest, random, random_tensor, torch


@autotest(n=2, check_graph=False, auto_backward=False)
def test_sin():
    return torch.sin(random_tensor(ndim=1, dim0=random(2, 50)))


@autotest(n=2, check_graph=False, auto_backward=False)
def test_sqrt():
    return torch.sqrt(random_tensor(ndim=1, dim0=random(2, 50)))
"""


def test_fix_is_confirmed_by_the_same_cases(tmp_path: Path) -> None:
    """Cases that diverged are drawn again, from another seed too, besides the n, until they align."""
    files, quick = {"test_x.py": REMEMBERED}, ("--autotest-shrink=0", "-p", "no:cacheprovider")
    fault = {"AUTOTEST_FAULT": "faults:shrinkable"}
    first = run_pytest(tmp_path, files, *quick, "--autotest-seed=5", env=fault)
    assert first.verdicts("test_sin") == {"divergent": 2}
    assert len(list((tmp_path / ".autotest" / "memory").glob("*.json"))) == 1
    keys = [end["key"] for end in first.ends("test_sin")]
    drawn = {end["key"] for end in first.ends("test_sqrt")}
    (tmp_path / "autotest-report").rename(tmp_path / "first")

    fixed = run_pytest(tmp_path, files, *quick)
    assert [end["key"] for end in fixed.ends("test_sin")] == [f"{key}@5" for key in keys] + keys
    assert {end["key"] for end in fixed.ends("test_sqrt")} == drawn
    assert fixed.verdicts("test_sin") == {"aligned": 4}
    assert "confirmed" in fixed.out
    assert "remembered cases now align" in fixed.out
    assert fixed.summary["remembered"] == {"aligned": 2, "problems": []}
    assert not list((tmp_path / ".autotest" / "memory").glob("*.json"))


#: Calls that end OneFlow's process: the blamed op, and whether the reference refuses it.
CRASHES = {
    "test_fmod": ("fmod", True),
    "test_amax": ("amax", False),
    "test_tensor_split": ("tensor_split", False),
    "test_div": ("div", False),
}


@pytest.fixture(scope="module")
def crashes(shared_run: Callable[..., Outcome]) -> Outcome:
    """A run of what ends OneFlow's process, with the seconds that a run has when nobody asks for more."""
    return shared_run("crashes", {"test_crashes.py": "crashes.py"}, "--autotest-shrink=10", target="oneflow")


@pytest.mark.parametrize("test", CRASHES)
def test_crash_of_oneflow(crashes: Outcome, test: str) -> None:
    """The call that ends OneFlow is left alone, refused by the reference or not."""
    op, refused = CRASHES[test]
    phase = "eager_backward" if test == "test_div" else "eager_forward"
    assert crashes.rows(test) == {(phase, "crash", op)}
    [shrunk] = [record["shrunk"] for record in crashes.records("shrunk") if record["test"].endswith(f"::{test}")]
    assert shrunk["calls"] == 1, shrunk
    assert ("# raises RuntimeError" in shrunk["program"]) is refused


def test_refused_and_divergent(crashes: Outcome) -> None:
    """A test of which no case could run tells first what its refused draws showed."""
    _, _, failure = crashes.out.partition("_ test_fmod _")
    told = [line for line in failure.splitlines()[1:] if line]
    assert told[0] == "1 divergence in 2 draws that PyTorch refuses, beside 0 cases"
    shown = next(place for place, line in enumerate(told) if line.startswith("  autotest replay "))
    assert told[shown + 2] == (
        "test_crashes.py::test_fmod: the reference refused 20 of 20 draws, so only 0 of n=1 cases could run; "
        "the commonest reason (20 times) is RuntimeError: ZeroDivisionError: it says so of every draw: correct the "
        "call, or draw what PyTorch takes, by narrower ranges, dtype= or requires_grad=False [test_crashes.py:9]"
    )


def test_crash_in_float64(crashes: Outcome) -> None:
    """What ends OneFlow is replayed with the least Program, in the other dtype as well."""
    done = run_autotest(crashes.folder, "replay", "7f2522ce", "--float64")
    assert done.returncode == 1
    assert done.stdout.startswith("7f2522ce stands in float64 too: 1 divergence in 1 of 1 case\n")
    assert "oneflow/eager_forward/crash/amax/float64,0-dim  1 case\n" in done.stdout
