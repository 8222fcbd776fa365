"""The repros of a run: written for each red fingerprint, verified within a budget, and written again by a command."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest
from click.testing import CliRunner

from autotest.budget import Allowance
from autotest.cli import main
from autotest.commands.summary import tell
from autotest.compare.difference import Rules
from autotest.compare.divergence import new_row
from autotest.repro import Unscripted, verifying
from autotest.repro.issue import Extent, Issue
from autotest.repro.verifying import settle, verify, words
from autotest.repro.writing import Written
from reports import read_run, summarize
from reports.findings.finding import Finding, findings, is_red
from reports.folders.repros import VERIFIED, ReproResult
from reports.tallies.summary import Summary
from support.runs import Outcome, run_pytest

BODY = """
from autotest import autotest, random_tensor, torch

@autotest(n=2, check_graph=False)
def test_lgamma():
    x = random_tensor(ndim=1, dim0=3, low=0.5, high=4)
    return torch.lgamma(x * 2) + 1

@autotest(n=1, check_graph=False)
def test_long():
    return torch.argsort(random_tensor(ndim=2, dim0=30, dim1=20))
"""
LGAMMA, ARGSORT = "4701a54b", "9d378079"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """One run with two known divergences of OneFlow."""
    return run_pytest(tmp_path_factory.mktemp("repros"), {"test_a.py": BODY}, "-q", target="oneflow")


def folder(outcome: Outcome) -> Path:
    """The run's repros."""
    [found] = (outcome.folder / "autotest-report" / "runs").glob("*/repros")
    return found


def test_each_red_fingerprint_has_a_script_and_an_issue(told: Outcome) -> None:
    """The least stored program is taken: the one call that diverges; long inputs lie beside the script."""
    repros = folder(told)
    assert sorted(path.name for path in repros.iterdir()) == [LGAMMA, ARGSORT, "repros.json"]
    assert json.loads((repros / "repros.json").read_text()) == {
        id_: {"written": True, "words": "not verified: the run was stopped, or --repro-total is 0"}
        for id_ in (LGAMMA, ARGSORT)
    }
    assert sorted(path.name for path in (repros / LGAMMA).iterdir()) == ["issue.md", "repro.py"]
    assert sorted(path.name for path in (repros / ARGSORT).iterdir()) == ["inputs.safetensors", "issue.md", "repro.py"]
    text = (repros / LGAMMA / "repro.py").read_text()
    assert "def program(torch, t0):\n    t1 = torch.lgamma(t0)\n    return t1\n" in text
    assert 'return {"gradient of t0": t0.grad}' in text


def test_issue(told: Outcome) -> None:
    """It says to whoever knows nothing of the harness what differs, how widely, and how it was compared."""
    text = (folder(told) / LGAMMA / "issue.md").read_text()
    lines = text.splitlines()
    assert lines[0] == "# `lgamma`: wrong values (backward, eager)"
    assert lines[2] == (
        "There is no short script: it has not been run. The one at the end holds this program and its inputs:"
    )
    assert "| shows in | backward, eager |" in lines
    assert (
        "| compared | shape, dtype, device, values (rtol=0.0001, atol=1e-05 for float32, by dtype; integers exactly) |"
        in lines
    )
    assert "| seen in | 2 cases of 1 test |" in lines
    assert "| fingerprint | `oneflow/eager_backward/value/lgamma/float32` |" in lines
    assert "- 3 of 3 elements differ beyond the tolerance" in lines
    assert "| index | PyTorch | oneflow | absolute | relative | ULP |" in lines
    script = (folder(told) / LGAMMA / "repro.py").read_text()
    assert text.endswith(f"```python\n{script.rstrip()}\n```\n\n</details>\n")
    assert [part for part in (str(told.folder), str(Path.home()), "/tmp") if part in text] == []  # noqa: S108


def test_failure_and_summary_name_the_script(told: Outcome) -> None:
    """Where the test is red, and in the summary with what became of it; from where the run was started."""
    script = (folder(told) / LGAMMA / "repro.py").relative_to(told.folder)
    assert f"  repro: {script}" in told.out.splitlines()
    assert f"  repro: {script} (not verified: the run was stopped, or --repro-total is 0)" in told.out.splitlines()


def test_script_is_written_again(told: Outcome, tmp_path: Path) -> None:
    """`autotest repro ID` gives the same script, elsewhere too, and touches nothing else there; the issue begins with
    the short script, which was run.
    """
    report = str(told.folder / "autotest-report")
    (tmp_path / "mine.txt").write_text("kept")
    result = CliRunner().invoke(main, ["repro", LGAMMA, "--report", report, "--output", str(tmp_path)])
    assert (result.exit_code, result.output) == (0, f"{tmp_path / 'repro.py'}\n")
    assert (tmp_path / "repro.py").read_text() == (folder(told) / LGAMMA / "repro.py").read_text()
    assert (tmp_path / "mine.txt").read_text() == "kept"
    short = (tmp_path / "short.py").read_text()
    issue = (tmp_path / "issue.md").read_text()
    assert issue.startswith(f"# `lgamma`: wrong values (backward, eager)\n\n```python\n{short}```\n\nIt prints:\n")
    assert short.count("\n") == 8
    assert "\noneflow [0. 0. 0.]\n```\n" in issue
    result = CliRunner().invoke(main, ["repro", ARGSORT, "--report", report])
    assert (result.exit_code, result.output) == (0, f"{folder(told) / ARGSORT / 'repro.py'}\n")


def test_script_that_cannot_be_written_again(told: Outcome, tmp_path: Path) -> None:
    """An ID that names nothing, and a folder that cannot be written."""
    report = str(told.folder / "autotest-report")
    result = CliRunner().invoke(main, ["repro", "00000000", "--report", report])
    assert result.exit_code == 2
    assert result.output == (
        f"no repro: ID='00000000' names no stored Program under {report}/; run its test again, or name the folder that "
        "has it with --report (a test that runs inline stores none)\n"
    )
    (tmp_path / "file").write_text("")
    result = CliRunner().invoke(main, ["repro", LGAMMA, "--report", report, "--output", str(tmp_path / "file" / "x")])
    assert result.exit_code == 2
    assert result.output == (
        f"no repro: {tmp_path / 'file' / 'x'} cannot be written: Not a directory; choose another folder with --output\n"
    )


@pytest.mark.parametrize(
    ("status", "out", "said"),
    [
        (1, "torch: t0\nSTANDS: t0 differs\n", "verified: exits 1"),
        (1, "Traceback\nNameError: x\n", "failed (exit 1): NameError: x"),
        (0, "gone: both sides agree\n", "did not reproduce (exit 0)"),
        (
            125,
            "cannot run here: no such device here: cuda\nbye\n",
            "could not run (exit 125): no such device here: cuda",
        ),
        (-6, "", "failed (exit -6): it said nothing"),
    ],
)
def test_what_a_script_amounts_to(status: int, out: str, said: str) -> None:
    """A script that breaks by itself is not taken for one that shows its divergence."""
    assert words(status, out) == said


def test_script_is_run_in_a_process_of_its_own(tmp_path: Path) -> None:
    """Its exit status counts, it may import what its test did, and one that hangs is ended with its children."""
    script = tmp_path / "repro.py"
    script.write_text("import ops\nimport sys\n\nprint('STANDS: ', ops.WORD)\nsys.exit(1)\n")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "ops.py").write_text("WORD = 1\n")
    assert verify(script, [str(tmp_path / "lib")]) == "verified: exits 1"
    assert verify(script) == "failed (exit 1): ModuleNotFoundError: No module named 'ops'"
    script.write_text(
        "import subprocess\nimport sys\n\nsubprocess.run([sys.executable, '-c', 'import time; time.sleep(99)'])\n"
    )
    assert verify(script, seconds=0.5) == "not verified: it did not end within 0.5 s"


def candidate(folder: Path, status: int) -> Written:
    """A repro that ends so."""
    folder.mkdir()
    (folder / "repro.py").write_text(f"import sys\n\nprint('STANDS: x')\nsys.exit({status})\n")
    row = new_row(("oneflow", "eager_forward", "value", "relu", "float32"), "test_x.py::test_a", "#0", "relu: x")
    issue = Issue(row, "", Rules(), {}, Extent(1, 1, [], ""), {}, "", "")
    return Written(folder.name, folder, (), issue, Unscripted("it has none here"))


def test_candidates(tmp_path: Path) -> None:
    """Where the least program shows nothing in a script, the whole one is tried; what has no script says why."""

    def two() -> Iterator[Written]:
        yield candidate(tmp_path / "least", 0)
        yield candidate(tmp_path / "whole", 1)

    assert settle(two(), Allowance(60)) == ReproResult(True, "verified: exits 1")
    assert not (tmp_path / "least" / "issue.md").exists()
    issue = (tmp_path / "whole" / "issue.md").read_text()
    assert (
        "\nThere is no short script: it has none here. The one at the end holds this program and its inputs:\n" in issue
    )
    assert settle(iter([candidate(tmp_path / "a", 0)]), Allowance(60)) == ReproResult(
        True, "did not reproduce (exit 0)"
    )
    assert settle(iter(["no script: a lambda"]), Allowance(60)) == ReproResult(False, "no script: a lambda")


def test_script_that_we_fail_to_write(told: Outcome, monkeypatch: pytest.MonkeyPatch) -> None:
    """It costs itself: the run's other findings are told."""

    def broken(*arguments: object) -> Iterator[Written]:
        raise IndexError("list index out of range")

    monkeypatch.setattr(verifying, "attempts", broken)
    saved: dict[str, ReproResult] = {}
    monkeypatch.setattr(verifying, "save_repros", lambda run, results: saved.update(results))
    run = folder(told).parent
    heard: list[tuple[int, int]] = []
    verifying.write_repros(run, summarize(read_run(run)), 0, lambda *done: heard.append(done))
    assert heard == [(number + 1, len(saved)) for number in range(len(saved))]
    assert {result.words for result in saved.values()} == {
        "no script: the harness failed to write it (IndexError: list index out of range); please report this"
    }


def test_told_while_it_lasts(told: Outcome, tmp_path: Path) -> None:
    """Whoever waits for the scripts and the report hears how far that is."""
    report = tmp_path / "report"
    shutil.copytree(folder(told).parents[2], report)
    run = report / "runs" / folder(told).parent.name
    (run / "repros" / "repros.json").unlink(missing_ok=True)
    said: list[str] = []

    class Heard:
        def __setattr__(self, name: str, value: str) -> None:
            assert name == "doing"
            said.append(value)

    tell(run, 80, False, 0.0, ticker=cast(Any, Heard()))
    scripts = said[2:-1]
    assert said == [
        "reading the records",
        "running the scripts of divergences",
        *(
            f"running the scripts of divergences: {number} of {len(scripts)} done"
            for number in range(1, len(scripts) + 1)
        ),
        "writing the report",
    ]
    assert len(scripts) > 1


def test_ended_before_its_time(tmp_path: Path) -> None:
    """Where nobody waits for the scripts any longer, one that runs is ended, and none is begun."""
    script = tmp_path / "repro.py"
    script.write_text("import time\n\ntime.sleep(99)\n")
    stopped = "not verified: the run was stopped, or --repro-total is 0"
    allowance = Allowance(60)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(verify, script, allowance=allowance)
        time.sleep(0.5)
        assert not running.done()
        allowance.stop()
        assert running.result(timeout=10) == stopped
    assert settle(iter([candidate(tmp_path / "a", 1)]), allowance) == ReproResult(True, stopped)


def test_interrupted(told: Outcome, monkeypatch: pytest.MonkeyPatch) -> None:
    """What has been verified before Ctrl-C is kept, and what runs then is not waited for."""
    allowances = []

    def written(run: Path, finding: Finding, summary: Summary, allowance: Allowance) -> ReproResult:
        allowances.append(allowance)
        if len(allowances) == 2:
            raise KeyboardInterrupt
        return ReproResult(True, VERIFIED)

    monkeypatch.setattr(verifying, "_write_repro", written)
    monkeypatch.setattr(verifying, "TOGETHER", 1)
    saved: dict[str, ReproResult] = {}
    monkeypatch.setattr(verifying, "save_repros", lambda run, results: saved.update(results))
    run = folder(told).parent
    summary = summarize(read_run(run))
    red = [finding for finding in findings(summary.all_divergences) if is_red(finding.level)]
    assert len(red) >= 2
    with pytest.raises(KeyboardInterrupt):
        verifying.write_repros(run, summary, 60)
    assert saved == {red[0].first.id: ReproResult(True, VERIFIED)}
    assert allowances[0].stopped


def test_budget(tmp_path: Path) -> None:
    """What does not fit is written, and told as not verified."""
    spent = Allowance(5, started=float("-inf"))
    script = candidate(tmp_path / "a", 1)
    assert settle(iter([script]), spent) == ReproResult(True, "not verified: budget (5 s, --repro-total)")
    assert settle(iter([script]), Allowance(0)) == ReproResult(
        True, "not verified: the run was stopped, or --repro-total is 0"
    )
