"""SIGKILL in mid-run, and a disk that is full: no process is left, no finished case lost, one sentence said."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from xdist.workermanage import NodeManager

from autotest.plugin import _hurry
from reports import latest_run, read_run, summarize
from support.runs import Outcome, command, environment, lay, run_pytest

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("real_interpreter")]

#: No worker is done with its tests before the other has begun.
SLOW = """
import os
import time
from pathlib import Path
import pytest
from autotest import autotest, random_tensor, torch

Path("up-" + os.environ.get("PYTEST_XDIST_WORKER", "main")).touch()

@pytest.mark.parametrize("i", range(4))
@autotest(n=60, check_graph=False)
def test_slow(i):
    while len(list(Path().glob("up-*"))) < int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 1)):
        time.sleep(0.02)
    time.sleep(0.03)
    return torch.square(random_tensor(ndim=1))
"""
CASES = 240


def _hear_ctrl_c() -> None:
    """What was started in the background of a shell ignores SIGINT, and hands that on."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Running:
    """An inner pytest in mid-run."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder = folder
        self.workers = int(arguments[-1]) if "-n" in arguments else 0
        lay(folder, {"test_slow.py": SLOW})
        self._log = (folder / "log").open("wb")
        self.process = subprocess.Popen(  # noqa: S603 - our own interpreter
            command("-q", *arguments),
            cwd=folder,
            env=environment({}),
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_hear_ctrl_c,
        )
        self.met: dict[int, psutil.Process] = {}

    def family(self) -> list[psutil.Process]:
        """The process and all that it has started."""
        parent = psutil.Process(self.process.pid)
        for found in [parent, *parent.children(recursive=True)]:
            self.met.setdefault(found.pid, found)
        return list(self.met.values())

    def ended(self) -> list[int]:
        """How many cases have ended, by the records on disk of each process."""
        paths = self.folder.glob("autotest-report/runs/*/records-*.jsonl")
        return [path.read_text().count('"type":"end"') + path.read_text().count('"type": "end"') for path in paths]

    def under_way(self) -> bool:
        """Whether each process has ended its first chunk."""
        return sum(ended >= 20 for ended in self.ended()) >= max(self.workers, 1)

    def until(self, condition: Callable[[], Any], seconds: float = 180.0) -> Any:
        """Wait until `condition()` is true, and give it."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = condition()
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"nothing came of it within {seconds} s: {(self.folder / 'log').read_text()}")

    def targets(self) -> list[psutil.Process]:
        """The target workers."""
        return [p for p in self.family() if p.is_running() and "autotest.workers.server" in _line(p)]

    def outcome(self) -> Outcome:
        """Wait for the end."""
        status = self.process.wait(timeout=180)
        return Outcome(status, (self.folder / "log").read_text(), self.folder)

    def gone(self) -> bool:
        """Whether no process of the run is left."""
        return not [p for p in self.met.values() if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]

    def end(self) -> None:
        """End what a failed test has left."""
        for process in self.met.values():
            if process.is_running():
                process.kill()
        self.process.wait(timeout=30)
        self._log.close()


def _line(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return ""


@pytest.fixture
def running(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Running]:
    """A run of 240 slow cases of which the first chunks have ended."""
    made = Running(tmp_path, *getattr(request, "param", ()))
    try:
        made.until(made.under_way)
        made.family()
        yield made
    finally:
        made.end()


def test_interrupted_run(running: Running) -> None:
    """Ctrl-C leaves a run that says how far it came, and what it was at; no test has failed."""
    running.process.send_signal(signal.SIGINT)
    outcome = running.outcome()
    running.until(running.gone, 30.0)
    assert outcome.status == pytest.ExitCode.INTERRUPTED
    assert re.search(r"\nUNFINISHED: \d+ cases? (was|were) still running; so far ", outcome.out)
    assert not outcome.summary["complete"]
    assert outcome.summary["outcomes"].get("failed", 0) == 0


COLLECTING = """
import os, time
from pathlib import Path

Path(f"collecting-{os.getpid()}").touch()
while True:  # as an import of C++ does, it takes no notice of a signal
    try:
        time.sleep(100)
    except KeyboardInterrupt:
        pass
"""


def test_interrupted_while_workers_start(tmp_path: Path) -> None:
    """Ctrl-C before a test has begun says so; workers that take no notice of it are not waited for."""
    lay(tmp_path, {"test_collecting.py": COLLECTING})
    line = [sys.executable, "-m", "autotest", "run", ".", "--target", "torch", "-n", "2"]
    run = subprocess.Popen(  # noqa: S603 - our own interpreter
        line,
        cwd=tmp_path,
        env=environment({}),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_hear_ctrl_c,
    )
    while len([*tmp_path.glob("collecting-*")]) < 2:
        time.sleep(0.05)
    family = psutil.Process(run.pid).children(recursive=True)
    os.killpg(run.pid, signal.SIGINT)
    out, _ = run.communicate(timeout=60)
    assert run.returncode == pytest.ExitCode.INTERRUPTED
    assert "\ninterrupted before a test had begun\n" in out
    assert not [process for process in family if process.is_running() and process.status() != psutil.STATUS_ZOMBIE]


#: Whoever sums up is interrupted so many times.
IMPATIENT = """
import os
from autotest.commands import summary

summed, times = summary.sum_up, [None] * int(os.environ["TIMES"])

def interrupted(folder, config, repro_total, ticker):
    if times:
        times.pop()
        raise KeyboardInterrupt
    print(f"{repro_total:g} s for scripts")
    return summed(folder, config, repro_total, ticker)

summary.sum_up = interrupted
"""


@pytest.mark.parametrize(
    ("times", "status", "said"),
    [
        (0, 0, r"\b7 s for scripts\n(.*\n)*  aligned +1\n"),
        (1, 0, r"\b0 s for scripts\n(.*\n)*  aligned +1\n"),
        (2, 2, r"\ninterrupted while the report was written: autotest report (\S+/runs/\S+) writes it\n"),
    ],
)
def test_interrupted_while_the_report_is_written(tmp_path: Path, times: int, status: int, said: str) -> None:
    """All tests have run: the first Ctrl-C is for the scripts of what was found, the second leaves the report to
    others.
    """
    files = {"conftest.py": IMPATIENT, "test_slow.py": SLOW}
    outcome = run_pytest(
        tmp_path, files, "-k", "0", "--autotest-cases=1", "--autotest-repro-total=7", env={"TIMES": str(times)}
    )
    assert outcome.status == status
    assert re.search(said, outcome.out), outcome.out


def test_xdist_waits_less_after_an_interrupt() -> None:
    """Its own ten seconds are for workers that end by themselves."""
    manager = SimpleNamespace(EXIT_TIMEOUT=10)
    plugins = SimpleNamespace(get_plugin=lambda name: SimpleNamespace(nodemanager=manager))
    _hurry(SimpleNamespace(pluginmanager=plugins))  # type: ignore[arg-type]
    assert manager.EXIT_TIMEOUT == 1.0
    assert NodeManager.EXIT_TIMEOUT == 10


BOTH = pytest.mark.parametrize("running", [(), ("-n", "2")], indirect=True, ids=["one process", "two workers"])


@BOTH
def test_killed_controller(running: Running) -> None:
    """Killing pytest itself leaves no process; every case that had ended is in the records, the rest is named."""
    before = sum(running.ended())
    running.process.kill()
    running.until(running.gone, 30.0)
    run = latest_run(running.folder / "autotest-report")
    summary = summarize(read_run(run))
    assert before <= summary.aligned < CASES
    assert not (run / "summary.json").exists()
    assert all(name.startswith("test_slow.py::test_slow[") for name in summary.running)
    if not running.workers:  # xdist's workers may finish the test that they are at
        assert summary.running
        assert not summary.complete


@BOTH
def test_killed_target_worker(running: Running) -> None:
    """Killing a target worker costs no case: what it ran runs again, in another."""
    victim = running.until(running.targets)[0]
    victim.kill()
    outcome = running.outcome()
    running.until(running.gone, 30.0)
    counts = outcome.counts()
    assert counts["cases"] == CASES
    assert counts["aligned"] == CASES
    assert outcome.status == 0


@pytest.mark.parametrize("running", [("-n", "2")], indirect=True)
def test_killed_pytest_worker(running: Running) -> None:
    """Killing a pytest worker leaves no target worker; the run goes on in another and loses no finished case."""
    before = sum(running.ended())
    [victim, *_] = [psutil.Process(p.ppid()) for p in running.until(running.targets)]
    os.kill(victim.pid, signal.SIGKILL)
    outcome = running.outcome()
    running.until(running.gone, 30.0)
    assert outcome.status == 1
    assert "of pytest ended; the last case that it began is test_slow.py::test_slow[" in outcome.out
    assert outcome.summary["aligned"] >= max(before, CASES - 60)
    assert [how for how in outcome.summary["outcomes"].values() if how != "passed"] == ["failed"]
    assert (outcome.summary["running"], outcome.summary["complete"]) == ([], True)
    # Its own words are pytest's main process's. On a busy machine the one that takes its place may come when nothing is
    # left to do.
    assert len(outcome.records("run")) in (3, 4)


def _little_disk() -> None:
    """No file may grow past 12 kB: what a full disk is to whoever writes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (12_000, 12_000))


def test_full_disk(tmp_path: Path) -> None:
    """A disk that fills up ends the run with 2 and one sentence; what was written before can be read."""
    outcome = run_pytest(tmp_path, {"test_slow.py": SLOW.replace("0.02", "0")}, "-q", preexec_fn=_little_disk)
    assert outcome.status == 2, outcome.out
    said = [line for line in outcome.out.splitlines() if line.endswith("with --report")]
    [path] = tmp_path.glob("autotest-report/runs/*/records-main.jsonl")
    assert said[0] == (f"{path} cannot be written: File too large; choose another folder with --report")
    assert "1 failed" in outcome.out
    assert "Traceback" not in outcome.out
    summary = summarize(read_run(path.parent))
    assert summary.aligned > 0
