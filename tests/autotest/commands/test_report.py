"""`autotest report` as a picture."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from autotest.cli import main
from autotest.commands.report import report_text
from reports import RecordWriter
from support.runs import run_pytest

FINE = """
from autotest import autotest, random_tensor, torch


@autotest(n=1, coverage="none")
def test_x():
    return torch.abs(random_tensor(ndim=1))
"""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a run without tests."""
    header = {"seed": 0, "target": "oneflow", "environment": {}, "command": "pytest", "commit": None, "path": None}
    with RecordWriter(tmp_path / "run", "main", **header):
        pass
    return tmp_path / "run"


def test_a_picture_is_printed(run: Path) -> None:
    """As PNG it is bytes and no line end, as SVG text."""
    png = CliRunner().invoke(main, ["report", "--format", "png", str(run)])
    assert (png.exit_code, png.stdout_bytes[:4], png.stdout_bytes[-8:-4]) == (0, b"\x89PNG", b"IEND")
    svg = CliRunner().invoke(main, ["report", "--format", "svg", str(run)])
    assert (svg.exit_code, svg.stdout) == (0, report_text(run, "svg", width=80, color=False, encoding="utf-8"))


def test_no_bytes_for_a_terminal(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody wants them there: a sentence says where to."""
    with CliRunner().isolation() as streams:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        with pytest.raises(click.UsageError) as refused:
            main.main(["report", "--format", "png", str(run)], standalone_mode=False)
        assert streams[0].getvalue() == b""
    assert str(refused.value) == (
        "format=png, but standard output is a terminal: autotest report --format png > run.png"
    )


def test_a_run_that_never_ended(tmp_path: Path) -> None:
    """Workers whose pytest was killed end their tests in order: what tells is that the run has no exit status."""
    outcome = run_pytest(tmp_path, {"test_x.py": FINE}, "-q")
    [folder] = (tmp_path / "autotest-report" / "runs").iterdir()
    before = report_text(folder, "text", width=80, color=False, encoding="utf-8")
    assert before.startswith("aligned: 1 case of 1 test, "), outcome.out
    (folder / "exit-status").unlink()
    text = report_text(folder, "text", width=120, color=False, encoding="utf-8")
    said = "pytest itself never ended, or still runs"
    assert text.startswith(f"UNFINISHED: {said}; so far 1 case of 1 test aligned"), text
    told = json.loads((folder / "summary.json").read_text())
    assert (told["complete"], told["stops"]) == (False, [said])
