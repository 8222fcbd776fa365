"""The mutation bench: its table of faults, its waves, who is killed, and what makes it red."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.mutation.__main__ import asked, quick
from benchmarks.mutation.fault import CATEGORIES, Fault, MisfitError, World
from benchmarks.mutation.judging import Verdict, complaints, killers, share, survivors, table, verdict, waves
from benchmarks.mutation.repros import Repro, summary_lines
from benchmarks.mutation.repros import complaints as unreproduced
from benchmarks.mutation.table import FAULTS
from benchmarks.running import Outcome, Red, RunError, outcome, run
from support.forks import forks, outer_environment

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
NAIVE = ROOT / "benchmarks/mutation/naive_ops.py"


def _fault(id_: str, op: str = "sin", reason: str | None = None, category: str = "value") -> Fault:
    return Fault(id_, category, op, "is wrong", lambda *_: None, reason=reason)


def _red(op: str = "sin", test: str = "test_sin", kind: str = "value") -> Red:
    return Red(test, op, kind, f"oneflow/eager_forward/{kind}/{op}/float32")


def _outcome(*reds: Red) -> Outcome:
    return Outcome(reds, (), 20, 1.0)


def test_every_category_has_four_faults() -> None:
    """No category is named that has fewer, and no fault is of another."""
    planted = Counter(fault.category for fault in FAULTS)
    assert set(planted) == set(CATEGORIES)
    assert min(planted.values()) >= 4


def test_a_fault_is_one_row_and_one_function() -> None:
    """Ids are unique, and no two faults share a line of source."""
    assert len({fault.id for fault in FAULTS}) == len(FAULTS)
    lines = Counter((fault.change.__code__.co_filename, fault.wrong, fault.op) for fault in FAULTS)
    assert set(lines.values()) == {1}
    made = ("in_graph.<locals>.<lambda>", "_configured.<locals>.configure")
    own = [fault.change.__code__ for fault in FAULTS if fault.change.__qualname__ not in made]
    assert len({(code.co_filename, code.co_firstlineno) for code in own}) == len(own)


def test_every_op_has_one_test_and_every_test_a_fault() -> None:
    """The naive tests are those of the ops that are made wrong, no more."""
    tests = re.findall(r"^def (test_\w+)\(", NAIVE.read_text(), re.MULTILINE)
    assert sorted(tests) == sorted({fault.test for fault in FAULTS})


def test_faults_are_asked_for_by_category_or_id() -> None:
    """A category is named whole, an id in part."""
    fault = _fault("sin-wide", category="edge value")
    assert [asked(fault, [one]) for one in ("edge value", "in-w", "value", "cos")] == [True, True, False, False]
    assert asked(fault, ["cos", "sin"])


def test_a_wave_has_one_fault_per_op() -> None:
    """Two faults of an op are planted one after the other, so that neither hides the other."""
    a, b, c = _fault("a"), _fault("b"), _fault("c", op="cos")
    assert waves([a, b, c]) == [(a, c), (b,)]


def test_waves_of_trainings_have_no_other_fault() -> None:
    """A training calls ops, too: a fault in one of them would be told in its place."""
    a, b, c = _fault("a"), _fault("b", op="Adam", category="training"), _fault("c", op="SGD", category="training")
    assert waves([a, b, c]) == [(a,), (b, c)]


def test_a_quick_run_is_two_waves_with_every_category() -> None:
    """CI plants faults of each category at once, those of trainings after the others."""
    chosen = quick(FAULTS)
    assert len(waves(chosen)) == 2
    assert {fault.category for fault in chosen} == set(CATEGORIES)


def test_a_fault_is_killed_by_a_new_divergence_of_its_op() -> None:
    """What names the op in its own test kills."""
    assert killers(_fault("a"), _outcome(), _outcome(_red())) == (_red(),)


@pytest.mark.parametrize(
    ("clean", "faulty"),
    [
        (_outcome(_red()), _outcome(_red())),
        (_outcome(), _outcome(_red(op="program"))),
        (_outcome(), _outcome(_red(test="test_cos"))),
        (_outcome(), _outcome()),
    ],
    ids=["known without the fault", "another op blamed", "another op's test", "nothing red"],
)
def test_a_fault_survives_what_does_not_name_it(clean: Outcome, faulty: Outcome) -> None:
    """A red run alone kills nothing."""
    assert killers(_fault("a"), clean, faulty) == ()
    assert verdict(_fault("a"), clean, faulty).killer is None


def test_a_fault_that_does_not_fit_its_call_is_no_kill() -> None:
    """An error of the bench's own is not taken for one that the harness found."""
    flow = type("Flow", (), {"Tensor": object, "nn": type("nn", (), {"functional": None}), "sin": abs})
    fault = Fault("short", "value", "sin", "is wrong", lambda w, op: op, place="nn.Sin.forward")
    with pytest.raises(MisfitError) as misfit:
        fault._planted(World(flow), abs)(1)
    words = "short is planted where it does not fit: too many positional arguments"
    assert misfit.value.args == (words,)
    red = Red("test_sin", "sin", "exception", "f", f"sin: sin raised MisfitError: {words}")
    with pytest.raises(RunError, match=r"^sin: sin raised MisfitError: short is planted where it does not fit"):
        killers(fault, _outcome(), _outcome(red))


def test_only_programs_meet_a_fault() -> None:
    """The harness's own calls, OneFlow's, and those of other faults are right."""
    fault = Fault("wrong", "value", "abs", "is wrong", lambda w, op, x: op(x) + 1)
    planted = fault._planted(World(None), abs)
    called = eval("lambda: planted(-1)", {"__name__": "dual_object.replay.replay", "planted": planted})  # noqa: S307
    assert (planted(-1), called()) == (1, 2)


def test_survivors_and_reasons_belong_together() -> None:
    """A survivor without a reason and a killed fault with one make the bench red."""
    assert list(complaints([Verdict(_fault("a"), (_red(),))])) == []
    killed = [Verdict(_fault(str(number)), (_red(),)) for number in range(30)]
    assert list(complaints([*killed, Verdict(_fault("b", reason="cannot be seen"), ())])) == []
    assert list(complaints([*killed, Verdict(_fault("b"), ())])) == [
        "b survives without a reason: let the harness notice it, or give its row a reason"
    ]
    assert list(complaints([Verdict(_fault("c", reason="cannot be seen"), (_red(),))])) == [
        "c has a reason, but is killed by oneflow/eager_forward/value/sin/float32: remove the reason"
    ]


def test_too_many_survivors_are_red_whatever_their_reasons() -> None:
    """Reasons do not lower the bar."""
    verdicts = [Verdict(_fault("a"), (_red(),)), Verdict(_fault("b", reason="cannot be seen"), ())]
    assert share(verdicts) == 0.5
    assert list(complaints(verdicts)) == ["killed=50.0%, but should be at least 95% of the planted faults"]


def test_the_table_counts_by_category() -> None:
    """In columns for people, in Markdown for a page."""
    verdicts = [Verdict(_fault("a"), (_red(),)), Verdict(_fault("b", category="mode"), ())]
    assert list(table(verdicts, markdown=True)) == [
        "| category | killed | planted |",
        "|---|---:|---:|",
        "| value | 1 | 1 |",
        "| mode | 0 | 1 |",
        "| all | 1 (50.0%) | 2 |",
    ]
    assert list(table(verdicts, markdown=False))[1] == "value                        1        1"


def test_a_survivor_is_listed_with_its_reason() -> None:
    """And with what its test showed in place of the op."""
    reason = Verdict(_fault("a", reason="cannot be seen"), ())
    none = Verdict(_fault("b"), (), (_red(op="program"),))
    assert list(survivors([reason, none, Verdict(_fault("c"), (_red(),))])) == [
        "a (value; sin is wrong): cannot be seen",
        "b (value; sin is wrong): NO REASON [seen: oneflow/eager_forward/value/program/float32]",
    ]


def test_a_fault_needs_an_op() -> None:
    """A row whose op OneFlow lacks is refused, not planted nowhere."""

    class Flow:
        class Tensor: ...

        class nn:  # noqa: N801 - as OneFlow spells it
            class functional: ...  # noqa: N801 - as OneFlow spells it

    with pytest.raises(LookupError) as refused:
        _fault("a", op="absent").plant(World(Flow))
    assert refused.value.args == ("op='absent', but should be an op of oneflow [a]",)


def test_an_outcome_tells_failures_without_a_divergence() -> None:
    """Tests that end red for another reason than a divergence are named."""
    row = {"test": "f.py::test_sin", "op": "sin", "kind": "value", "fingerprint": "x", "message": "m", "count": 2}
    summary = {
        "divergences": [row],
        "outcomes": {"f.py::test_sin": "failed", "f.py::test_cos": "failed", "f.py::test_tan": "passed"},
        "cases": 40,
        "seconds": 1.5,
    }
    assert outcome(summary) == Outcome((Red("test_sin", "sin", "value", "x", "m", 2),), ("test_cos",), 40, 1.5)


@pytest.mark.usefixtures("forked")
def test_a_run_that_does_not_go_through_is_no_measurement(tmp_path: Path) -> None:
    """A harness that cannot run kills nothing and says why."""
    (tmp_path / "test_nothing.py").write_text("")
    with pytest.raises(RunError, match=r"^exit status 5, but should be 0 or 1 \[.*test_nothing\.py"):
        run([str(tmp_path / "test_nothing.py")], {}, "-n", "0")


def test_the_bench_kills_a_fault_and_lists_a_survivor() -> None:
    """On real OneFlow: the clean run, the wave, the table."""
    command = ["-m", "benchmarks.mutation", "-k", "tanh-detached", "-n", "0", "--verbose"]
    done = forks().run(command, ROOT, outer_environment())
    assert done.returncode == 0, done.stderr
    assert "wave 1: 1 of 1 faults killed" in done.stdout
    assert "tanh-detached: oneflow/eager_backward/grad_missing/tanh/float32" in done.stdout


def test_a_repro_tells_the_fault_from_none() -> None:
    """It stands with the fault and is gone without it; the median program is small."""
    right = Repro(_fault("a"), "verified: exits 1", "did not reproduce (exit 0)", 1, 4)
    always = Repro(_fault("b"), "verified: exits 1", "verified: exits 1", 3, 20)
    assert list(summary_lines([right, always])) == [
        "repros: 1 of 2 stand with the fault and are gone without it",
        "least programs: 2 calls, 12 elements (medians)",
    ]
    assert list(unreproduced([right])) == []
    assert list(unreproduced([right, always])) == [
        "b: its repro is 'verified: exits 1' with the fault and 'verified: exits 1' without it",
        "median least program has calls=2, elements=12, but should have at most 2 and 8",
    ]


def test_a_script_runs_with_a_fault(tmp_path: Path) -> None:
    """The fault is planted in the script's OneFlow, and in that of a process that it starts."""
    script = tmp_path / "script.py"
    script.write_text(
        "import subprocess, sys, oneflow\n"
        "print(oneflow.cumsum(oneflow.ones(3), 0).numpy(), flush=True)\n"
        "if len(sys.argv) == 1: subprocess.run([sys.executable, __file__, 'child'])\n"
    )
    planted = ["-m", "benchmarks.mutation.planting", "cumsum-exclusive"]
    for arguments, told in ((planted, "[0. 1. 2.]"), ([], "[1. 2. 3.]")):
        done = subprocess.run(  # noqa: S603 - our own interpreter
            [sys.executable, *arguments, str(script)], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert [line for line in done.stdout.splitlines() if line.startswith("[")] == [told, told]
