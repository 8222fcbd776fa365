"""How far a run is: what its processes say of themselves, in words, in a terminal and in a log."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import termios
import threading
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from autotest.run.progress.stages import Progress, Stage, forget, line, stages, together
from autotest.run.progress.ticker import LastRow, Log, Ticker, sign_for
from support.runs import run_pytest


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ([Stage(20, 0, 0, 0.1, "test_a")], "0 %, 0 cases: test_a"),
        ([Stage(2000, 120, 90, 2.0, "test_a")], "6 %, 90 cases, 45 a second, 31 s left: test_a"),
        ([Stage(20, 5, 5, 60.0, "test_a")], "25 %, 5 cases, 12 s each, 3 min left: test_a"),
        ([Stage(20000, 100, 100, 60.0, "test_a")], "0 %, 100 cases, 2 a second, 3 h 19 min left: test_a"),
        (
            [Stage(40, 15, 10, 1.0, "test_a", "shrinking x"), Stage(40, 15, 10, 2.0, "test_b")],
            "75 %, 20 cases, 10 a second, 1 s left: test_a (shrinking x); test_b",
        ),
        (
            [Stage(40, 20, 20, 2.0), Stage(40, 20, 20, 2.0, "test_b", "blaming y")],
            "100 %, 40 cases, 20 a second: test_b (blaming y)",
        ),
        ([Stage(0, 3, 7, 1.0, "test_foreign")], "7 cases, 7 a second: test_foreign"),
    ],
)
def test_words(found: list[Stage], words: str) -> None:
    """How much is behind, the pace, what is left, and what each process does; no guess where nothing is known."""
    assert line(found) == words


def test_pace_of_late() -> None:
    """Where slow tests come last, the pace and what is left are those of late."""
    found = [Stage(200, 80, 80, 100.0, "test_a"), Stage(200, 60, 70, 110.0, "test_b")]
    assert line(found) == "70 %, 150 cases, 1 a second, 47 s left: test_a; test_b"
    then = together([Stage(200, 70, 70, 50.0), Stage(200, 60, 60, 50.0)])
    assert line(found, then) == "70 %, 150 cases, 3 s each, 6 min left: test_a; test_b"
    assert line(found, together(found)) == "70 %, 150 cases: test_a; test_b"
    assert line([Stage(200, 200, 200, 100.0)]) == "100 %, 200 cases, 2 a second"
    assert line(found, Stage(200, 140, 140, 50.0)) == "70 %, 150 cases, 6 s each: test_a; test_b"


def test_ticker_tells_the_pace_of_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds a run against what it was some time ago, and not against its start."""
    monkeypatch.setattr("autotest.run.progress.ticker.RECENT", 10.0)
    board = Board()
    board.every = 60.0
    ticker = Ticker(tmp_path, board)
    for seconds, behind in ((5.0, 500), (20.0, 530), (29.0, 540), (41.0, 552)):
        (tmp_path / "progress-main").write_text(json.dumps(asdict(Stage(600, behind, behind, seconds, "test_a"))))
        ticker._tick()
    ticker.stop()
    assert board.shown == [
        "83 %, 500 cases, 100 a second, 1 s left: test_a",
        "88 %, 530 cases, 2 a second, 35 s left: test_a",
        "90 %, 540 cases, 1 a second, 54 s left: test_a",
        "92 %, 552 cases, 1 a second, 48 s left: test_a",
    ]


def test_stage_of_a_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that have ended are behind with all their cases, the running one with those that have ended."""
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    progress = Progress(tmp_path / "run", "gw0", 30)
    progress.begins("test_a", 20)
    assert stages(tmp_path / "run") == [Stage(30, 0, 0, 0.0, "test_a", "")]
    for _ in range(3):
        now[0] += 1
        progress.case_ended()
    with progress.doing("shrinking x"):
        assert stages(tmp_path / "run") == [Stage(30, 3, 3, 3.0, "test_a", "shrinking x")]
    progress.begins("test_b", 10)
    for _ in range(12):  # remembered ones come on top
        now[0] += 1
        progress.case_ended()
    assert stages(tmp_path / "run") == [Stage(30, 30, 15, 15.0, "test_b", "")]
    progress.close()
    assert stages(tmp_path / "run") == [Stage(30, 30, 15, 15.0, "", "")]
    forget(tmp_path / "run")
    assert [*(tmp_path / "run").iterdir()] == []


def test_counting_does_not_write_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cases of a millisecond are counted, and written five times a second."""
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    progress = Progress(tmp_path, "main", 500)
    progress.begins("test_a", 500)
    seen = set()
    for _ in range(500):
        now[0] += 0.001
        progress.case_ended()
        seen.add(stages(tmp_path)[0].ended)
    assert sorted(seen) == [0, 200, 400]


def test_nowhere_to_write(tmp_path: Path) -> None:
    """A run without a folder says nothing, and a disk that takes nothing ends no run."""
    Progress(None, "main", 1).begins("test_a", 1)
    (tmp_path / "file").write_text("")
    Progress(tmp_path / "file", "main", 1).begins("test_a", 1)
    assert stages(tmp_path / "file") == []


def terminal(rows: int, columns: int) -> tuple[int, int]:
    """Both ends of a terminal of that size."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    return ours, theirs


def test_last_row_of_a_terminal() -> None:
    """The rows above it scroll alone, the cursor stays, a long text is cut, and in the end it is given back."""
    ours, theirs = terminal(24, 20)
    row = LastRow(theirs)
    row.clear()
    row.show("short")
    assert os.read(ours, 999) == b"\x1bD\x1b7\x1b[1;23r\x1b8\x1b[1A\x1b7\x1b[24;1H\x1b[2Kshort\x1b8"
    row.show("longer than the row is")
    assert os.read(ours, 999) == b"\x1b7\x1b[24;1H\x1b[2Klonger than the ...\x1b8"
    row.clear()
    row.clear()
    assert os.read(ours, 999) == b"\x1b7\x1b[r\x1b[24;1H\x1b[2K\x1b8"
    for descriptor in (ours, theirs):
        os.close(descriptor)


def test_terminal_that_changes_its_size() -> None:
    """The row is made anew where the terminal has grown; one of two rows is left to what is printed."""
    ours, theirs = terminal(24, 20)
    row = LastRow(theirs)
    row.show("a")
    os.read(ours, 999)
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 20, 0, 0))
    row.show("b")
    assert os.read(ours, 999) == b"\x1bD\x1b7\x1b[1;29r\x1b8\x1b[1A\x1b7\x1b[30;1H\x1b[2Kb\x1b8"
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 2, 20, 0, 0))
    row.show("c")
    os.write(theirs, b"printed")
    assert os.read(ours, 999) == b"printed"
    for descriptor in (ours, theirs):
        os.close(descriptor)


def test_where_the_line_goes(tmp_path: Path) -> None:
    """Into the last row of a terminal that can, into lines of a log elsewhere."""
    ours, theirs = terminal(24, 80)
    with (tmp_path / "log").open("w") as log:
        assert isinstance(sign_for(theirs, {"TERM": "xterm"}), LastRow)
        assert [type(sign_for(theirs, environment)) for environment in ({}, {"TERM": "dumb"})] == [Log, Log]
        assert isinstance(sign_for(log.fileno(), {"TERM": "xterm"}), Log)
    for descriptor in (ours, theirs):
        os.close(descriptor)


class Board:
    """A sign that keeps what was put up."""

    every = 0.01

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.cleared = 0

    def show(self, text: str) -> None:
        """Keep it."""
        self.shown.append(text)

    def clear(self) -> None:
        """Count that."""
        self.cleared += 1


def wait_for(board: Board, text: str) -> None:
    """Wait until this is what is up."""
    deadline = time.monotonic() + 20
    while board.shown[-1:] != [text] and time.monotonic() < deadline:
        time.sleep(0.01)
    assert board.shown[-1:] == [text]


def test_ticker(tmp_path: Path) -> None:
    """It shows nothing before a test runs, then how far the run is, then what comes after, and goes without a trace."""
    board = Board()
    ticker = Ticker(tmp_path, board)
    time.sleep(0.1)
    assert board.shown == []
    Progress(tmp_path, "main", 9).begins("test_\x1b[2J", 3)
    wait_for(board, "0 %, 0 cases: test_\\x1b[2J")
    ticker.doing = "writing the report"
    wait_for(board, "writing the report")
    ticker.stop()
    ticker.stop()
    assert board.cleared == 1
    assert "autotest-ticker" not in {thread.name for thread in threading.enumerate()}


SLOW = """
import time
import pytest
from autotest import autotest, random_tensor, torch
from autotest.run.progress import ticker

ticker.IN_A_LOG = 0.3

@autotest(n=30, check_graph=False)
def test_slow():
    time.sleep(0.05)
    return torch.relu(random_tensor(ndim=1))
"""


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_line_in_a_log(tmp_path: Path, workers: tuple[str, ...]) -> None:
    """A run that is no terminal's prints a line now and then, also while a test's own output is captured."""
    files = {"conftest.py": SLOW.partition("@autotest")[0], "test_slow.py": SLOW}
    outcome = run_pytest(tmp_path, files, *workers)
    assert outcome.status == 0
    told = re.findall(
        r"^autotest: (?:\d+) %, (\d+) cases(?:, .*)?: test_slow.py::test_slow$", outcome.out, re.MULTILINE
    )
    assert len(told) >= 2
    assert [*map(int, told)] == sorted(map(int, told))
    [run] = (tmp_path / "autotest-report" / "runs").iterdir()
    assert [*run.glob("progress-*")] == []
