"""What a finished run hands to other programs: JUnit properties, annotations, a step summary, the page."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import click
import pytest
from click.testing import CliRunner

from autotest.cli import main
from autotest.commands.run import Began, processes
from autotest.commands.run import run_pytest as run_in_this_process
from support.runs import Outcome, run_autotest, run_pytest

BODY = """
from autotest import autotest, random_tensor, torch

@autotest(n=2)
def test_lgamma():
    return torch.lgamma(random_tensor(ndim=1, low=0.5, high=4))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """One run with a divergence, as GitHub Actions starts it."""
    folder = tmp_path_factory.mktemp("told")
    env = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(folder / "step.md")}
    return run_pytest(folder, {"test_a.py": BODY}, "-q", "--junit-xml=junit.xml", target="oneflow", env=env)


def test_junit_property(told: Outcome) -> None:
    """JUnit through pytest has the test's counts and worst errors as one property."""
    [held] = ElementTree.parse(told.folder / "junit.xml").getroot().iter("property")  # noqa: S314 - pytest wrote it
    assert held.get("name") == "autotest"
    found = json.loads(held.get("value") or "")
    assert sorted(found) == ["divergent", "worst_absolute_error", "worst_relative_error", "worst_ulp"]
    assert (found["divergent"], found["worst_relative_error"]) == (2, 1.0)


def test_annotation(told: Outcome) -> None:
    """Each fingerprint is annotated once, at the first line of its test."""
    lines = [line for line in told.out.splitlines() if line.startswith("::")]
    assert len(lines) == 1
    lead = (
        "::error file=test_a.py,line=4,title=oneflow/eager_backward/value/lgamma/float32::lgamma: gradient of x differs"
    )
    assert lines[0].startswith(lead)


def test_step_summary(told: Outcome) -> None:
    """The step's summary starts with the verdict."""
    first = (told.folder / "step.md").read_text().splitlines()[0]
    assert first.startswith("### DIVERGENT: 1 divergence in 1 of 1 test, `oneflow 0.9.0 against torch")


def test_page(told: Outcome) -> None:
    """The terminal names the page of the run, which is there."""
    [line] = [line for line in told.out.splitlines() if line.startswith("report: ")]
    page = told.folder / line.removeprefix("report: ")
    assert page == told.folder / "autotest-report" / "index.html"
    assert page.is_file()


def test_step_summary_that_cannot_be_written(tmp_path: Path) -> None:
    """A summary that GitHub asks for and that cannot be written is told in one sentence, and the run is a fault."""
    body = BODY.replace("lgamma(random_tensor(ndim=1, low=0.5, high=4))", "relu(random_tensor())")
    outcome = run_pytest(tmp_path, {"test_a.py": body}, "-q", env={"GITHUB_STEP_SUMMARY": "/dev/null/step.md"})
    assert outcome.status == 3
    sentence = "/dev/null/step.md cannot be written: Not a directory; unset GITHUB_STEP_SUMMARY or mend its path"
    assert sentence in outcome.out.splitlines()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("-1", "-n='-1', but should be a whole number of at least 0, or 'auto'"),
        ("many", "-n='many', but should be a whole number of at least 0, or 'auto'"),
        ("513", "-n=513, but should be at most 512, or 'auto'"),
    ],
)
def test_processes_that_are_none(given: str, sentence: str) -> None:
    """A number that no machine has is refused before any of them starts."""
    with pytest.raises(click.UsageError) as caught:
        processes(given)
    assert str(caught.value) == sentence
    assert processes("512") == 512


@pytest.mark.parametrize("begun", [False, True])
def test_interrupt_outside_the_session(
    begun: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C that pytest does not take itself is told by when it came: a run that has ended had tests."""

    def interrupted(arguments: list[str], plugins: list[Began]) -> int:
        if begun:
            plugins[0].pytest_sessionstart()
        raise KeyboardInterrupt

    monkeypatch.setattr("pytest.main", interrupted)
    assert run_in_this_process([], "0", {}) == 2
    words = "interrupted after the run" if begun else "interrupted before a test had begun"
    assert capsys.readouterr().err == f"{words}\n"


def test_interrupt_before_pytest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while a command begins has the status of a run that is interrupted, not that of a divergence."""

    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("autotest.commands.run.run_pytest", interrupted)
    result = CliRunner().invoke(main, ["run"])
    assert (result.exit_code, result.output) == (2, "interrupted\n")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (PermissionError(13, "Permission denied", "/proc/x"), "/proc/x cannot be used: Permission denied"),
        (OSError(28, "No space left on device"), "standard output cannot be used: No space left on device"),
    ],
)
def test_file_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch, error: OSError, told: str) -> None:
    """No command has a verdict whose file cannot be read or written: the status is that of a wrong usage."""

    def fails(*_: object) -> int:
        raise error

    monkeypatch.setattr("autotest.commands.run.run_pytest", fails)
    result = CliRunner().invoke(main, ["run"])
    assert (result.exit_code, result.output) == (2, f"{told}, but should be a file that can be\n")


def test_other_faults_of_the_system_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is about no file is nobody's typing."""

    def fails(*_: object) -> int:
        raise ChildProcessError(10, "No child processes")

    monkeypatch.setattr("autotest.commands.run.run_pytest", fails)
    assert isinstance(CliRunner().invoke(main, ["run"]).exception, ChildProcessError)


def test_interpreter_that_is_not_there(tmp_path: Path) -> None:
    """One that a project's table names is missed before a test begins."""
    (tmp_path / "pyproject.toml").write_text('[tool.autotest.targets.mine]\npython = "no/python"\n')
    (tmp_path / "test_a.py").write_text("def test_a():\n    raise ValueError\n")
    done = run_autotest(tmp_path, "run", "test_a.py", "-n", "0", "--target", "mine")
    assert done.returncode == 2
    assert done.stderr.startswith(
        f"ERROR: target_python='{tmp_path}/no/python', but should be the path of a Python interpreter "
        "[tool.autotest.targets.mine.python in pyproject.toml]\n"
    )
