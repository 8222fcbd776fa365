"""Campaigns of real processes, killed by real signals: whatever ends when, the report is that of an undisturbed one."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from autotest.campaign.campaign import NOTHING_ENDED
from autotest.campaign.log import STRIDE
from reports import latest_run, read_run
from support.forks import forks
from support.runs import INTERPRETER, environment

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("real_interpreter")]

#: A driver is a process that one can kill; its slots and their targets are forks that have PyTorch.
DRIVER = "import sys\nsys.executable = sys.argv.pop(1)\nfrom autotest.cli import main\nmain()\n"

TESTS = """
import pytest
from autotest import autotest, random_tensor, torch

@pytest.mark.parametrize("op", ["square", "exp", "sin"])
@autotest(n=20, check_graph=False)
def test_op(op):
    return getattr(torch, op)(random_tensor(ndim=1, dim0=3))

@autotest(n=3, check_graph=False)
def test_add():
    return random_tensor(ndim=1, dim0=3) + 1
"""
#: PyTorch ends at one of its ten cases.
DEADLY = """
import os, signal
from autotest import autotest, random, random_tensor

@autotest(n=2, check_graph=False)
def test_deadly():
    if random(0, 40).to(int).value() == 7:
        os.kill(os.getpid(), signal.SIGSEGV)
    return random_tensor(ndim=1) + 1
"""
#: A target whose square is wrong for some values.
FAULT = """
import torch

def wrong(adapter):
    square = torch.square
    torch.square = lambda x: square(x) + (x > 0.9)
"""
#: Ctrl-C, just when the log has the line of a second round.
INTERRUPTED = """
from autotest.campaign.rounds import Rounds

end = Rounds.end

def ended(rounds, *given):
    end(rounds, *given)
    if len(rounds.log.done) == 2:
        raise KeyboardInterrupt

Rounds.end = ended
"""
#: What is killed, and what stands in the command lines of those that must be there.
KILLED = {"slot": "pytest.main", "target": "workers.server", "driver": "workers.server"}
#: Rounds of 5 visits of 20 cases.
ROUNDS = 8
#: Nothing is looked at closer, which takes seconds.
NIGHT = f"""
target = "torch"
cases = {ROUNDS * 100}
inputs = "plain"
sources = []
tests = ["test_ops.py"]
processes = 2
look = 0
"""
#: What of summary.json does not depend on how long things take.
SAME = (
    *("cases", "aligned", "divergent", "undecidable", "rejected", "skipped", "crashed", "timed_out", "out_of_memory"),
    *(
        "tests",
        "segments",
        "rejected_reasons",
        "skipped_reasons",
        "complete",
        "running",
        "faults",
        "laid_out",
        "matrix",
    ),
)


def lay(folder: Path) -> None:
    """The files of a campaign."""
    folder.mkdir()
    (folder / "test_ops.py").write_text(TESTS)
    (folder / "planted.py").write_text(FAULT)
    (folder / "night.toml").write_text(NIGHT)


def line(*arguments: str) -> list[str]:
    """The command of a campaign in the current folder."""
    return [INTERPRETER, "-c", DRIVER, str(forks().python), "campaign", "night.toml", *arguments]


def variables(folder: Path) -> dict[str, str]:
    """The environment of a campaign, with its fault."""
    extra = environment({"AUTOTEST_FAULT": "planted:wrong"})
    return {**extra, "PYTHONPATH": os.pathsep.join([str(folder), extra["PYTHONPATH"]])}


def ended(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a campaign to its end."""
    done = subprocess.run(  # noqa: S603 - our own command
        line(*arguments),
        cwd=folder,
        env=variables(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode in (0, 1, 2), done.stdout
    return done


class Running:
    """A campaign that is under way."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder = folder
        self._path = variables(folder)["PYTHONPATH"]
        self._log = (folder / "output").open("ab")
        self.process = subprocess.Popen(  # noqa: S603 - our own command
            line(*arguments),
            cwd=folder,
            env=variables(folder),
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def until(self, ready: Callable[[], Any], seconds: float = 120.0) -> Any:
        """Wait for something."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            found = ready()
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError((self.folder / "output").read_text())

    def family(self, word: str) -> list[psutil.Process]:
        """The processes of this campaign with this word in their command line; a fork's parent is none of them."""
        found = []
        for process in psutil.process_iter():
            try:
                if word in " ".join(process.cmdline()) and self._has(process):
                    found.append(process)
            except psutil.Error:
                continue
        return found

    def _has(self, process: psutil.Process) -> bool:
        """Whether a process is of this campaign. Those of Ray have their title for an environment, but its folder."""
        if process.cmdline()[0].startswith("ray::"):
            return process.cwd() == str(self.folder)
        return process.environ().get("PYTHONPATH") == self._path

    def killed(self, kind: str, chance: random.Random, *, waits: bool) -> bool:
        """Kill the driver, a slot or a target a moment from now, or from when another round is done; whether there was
        one to kill.
        """
        before = done_rounds(self.folder)
        self.until(lambda: self.process.poll() is not None or self.family(KILLED[kind]))
        if waits:
            self.until(lambda: self.process.poll() is not None or done_rounds(self.folder) > before)
        time.sleep(chance.uniform(0, 0.5))
        victims = [] if self.process.poll() is not None else self.family(KILLED[kind])
        if not victims:
            return False
        os.kill(self.process.pid if kind == "driver" else chance.choice(victims).pid, signal.SIGKILL)
        return True

    def ended(self) -> None:
        """Wait for its own end, of a campaign that has found something."""
        self.process.wait(300)
        self.close()
        assert self.process.returncode == 1, (self.folder / "output").read_text()

    def close(self) -> None:
        """End it."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._log.close()


def done_rounds(folder: Path) -> int:
    """How many rounds the log calls done."""
    path = folder / "autotest-campaign" / "log.jsonl"
    if not path.exists():
        return 0
    return sum(b'{"done"' in line for line in path.read_bytes().splitlines())


def summary(folder: Path) -> dict[str, Any]:
    """What the report says, but for how long things took."""
    data = json.loads((folder / "autotest-campaign" / "summary.json").read_text())
    told: dict[str, Any] = {name: data[name] for name in SAME}
    told["divergences"] = [
        (row["fingerprint"], row["test"], row["case_key"], row["count"]) for row in data["divergences"]
    ]
    return told


def judged(folder: Path) -> Counter[tuple[str, str]]:
    """How often each case had its verdict."""
    run = read_run(latest_run(folder / "autotest-campaign"))
    lines = [line for _, line in run.lines() if isinstance(line, dict)]
    return Counter((line["key"], line["verdict"]) for line in lines if line["type"] == "end")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a campaign that nobody has disturbed."""
    folder = tmp_path_factory.mktemp("campaign") / "undisturbed"
    lay(folder)
    done = ended(folder)
    assert done.returncode == 1, done.stdout
    return folder


def test_campaign(undisturbed: Path) -> None:
    """Every case is judged once, and what diverges is found, stored and told."""
    told = summary(undisturbed)
    assert told["complete"]
    assert told["faults"] == []
    assert {row[0] for row in told["divergences"]} == {"torch/eager_forward/value/square/float32"}
    cases = judged(undisturbed)
    assert set(cases.values()) == {1}
    drawn = [key for key, _ in cases if not key.endswith("@laid")]
    assert 0 <= len(drawn) - ROUNDS * 100 < 100
    visits = Counter((key.partition("#")[0], int(key.rpartition("#")[2]) // STRIDE) for key in drawn)
    assert {count for (test, _), count in visits.items() if test.endswith("::test_add")} == {3}  # what it asks for
    folder = undisturbed / "autotest-campaign"
    assert (folder / "index.html").is_file()
    assert len(list(folder.glob("runs/*/programs/*.json"))) < told["divergences"][0][-1]  # not those of each round


def test_replay(undisturbed: Path) -> None:
    """The folder is a report: its divergences run again by their ids, its cases by their keys."""
    data = json.loads((undisturbed / "autotest-campaign" / "summary.json").read_text())
    [row] = [row for row in data["divergences"] if row["fingerprint"] == "torch/eager_forward/value/square/float32"]
    for asked in ([row["id"], "--report", "autotest-campaign"], [row["case_key"], "test_ops.py", "--inputs", "plain"]):
        command = ["-m", "autotest", "replay", *asked, "--target", "torch"]
        done = forks().run(command, undisturbed, variables(undisturbed))
        assert done.returncode == 1, done.stderr


def test_kills(undisturbed: Path, tmp_path: Path) -> None:
    """Driver, slots and targets are killed at random moments, up to ten times: the report is as if undisturbed."""
    folder = tmp_path / "killed"
    lay(folder)
    chance = random.Random(5)
    running = Running(folder)
    kills: Counter[str] = Counter()
    while kills.total() < 10 and done_rounds(folder) < ROUNDS - 1:
        kind = tuple(KILLED)[kills.total() % len(KILLED)]
        if running.killed(kind, chance, waits=bool(kills.total() % 2)):
            kills[kind] += 1
        if kind == "driver":
            running.close()
            running = Running(folder)
    running.ended()
    assert kills.keys() == KILLED.keys(), (folder / "output").read_text()
    assert judged(folder) == judged(undisturbed)
    assert summary(folder) == summary(undisturbed)


def test_all_slots_are_killed(undisturbed: Path, tmp_path: Path) -> None:
    """What they ran runs again, once: the campaign does not begin anew when the first of others has collected."""
    folder = tmp_path / "killed"
    lay(folder)
    running = Running(folder)
    running.until(lambda: done_rounds(folder) >= 1)
    for slot in running.family(KILLED["slot"]):
        slot.kill()
    running.ended()
    assert judged(folder) == judged(undisturbed)


@pytest.fixture
def ray() -> None:
    """Skip where there is no Ray: it is an extra of its own."""
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'op-autotest[ray]'")


@pytest.mark.usefixtures("ray")
def test_ray(undisturbed: Path, tmp_path: Path) -> None:
    """Two actors judge the same cases in the same way; their records and programs lie with the driver."""
    folder = tmp_path / "remote"
    lay(folder)
    assert ended(folder, "--ray", "local").returncode == 1
    assert judged(folder) == judged(undisturbed)
    assert summary(folder) == summary(undisturbed)
    # How many rounds keep theirs depends on which has ended first.
    assert [*(folder / "autotest-campaign").glob("runs/*/programs/*-r*")]


@pytest.mark.usefixtures("ray")
def test_actor_is_killed(undisturbed: Path, tmp_path: Path) -> None:
    """The round of an actor that is lost runs again in another one, and nothing else does."""
    folder = tmp_path / "remote"
    lay(folder)
    running = Running(folder, "--ray", "local")
    running.until(lambda: done_rounds(folder) >= 1)
    actors = running.until(lambda: running.family("ray::SlotActor.run"))
    actors[0].kill()
    running.ended()
    assert "runs again: its process was lost with its actor (ActorDiedError) at " in (folder / "output").read_text()
    assert judged(folder) == judged(undisturbed)
    assert summary(folder) == summary(undisturbed)


def test_case_that_ends_pytorch(tmp_path: Path) -> None:
    """The process that records it ends with it: all other cases of its round are judged, it is refused, and there is no
    fault of the harness.
    """
    folder = tmp_path / "deadly"
    lay(folder)
    (folder / "test_ops.py").write_text(DEADLY)
    done = ended(folder, "--cases", "10")
    assert done.returncode == 0, done.stdout
    ends = {key for key, verdict in judged(folder) if verdict == "rejected"}
    [deadly] = ends
    words = f"round 0 goes on without {deadly}: its process was killed by SIGSEGV 2 times at {deadly}"
    assert words in done.stdout
    assert sum(judged(folder).values()) == 11  # another was drawn in its place
    run = read_run(latest_run(folder / "autotest-campaign"))
    lines = [line for _, line in run.lines() if isinstance(line, dict)]
    told = [line["reason"] for line in lines if line["type"] == "end" and line["verdict"] == "rejected"]
    assert told == ["PyTorch itself ends the process: it was killed by SIGSEGV"]
    assert summary(folder)["faults"] == []


def test_test_that_ends_pytorch(tmp_path: Path) -> None:
    """Where several cases of a test do, the round goes on without the test."""
    folder = tmp_path / "deadly"
    lay(folder)
    (folder / "test_ops.py").write_text(DEADLY.replace("== 7", ">= 0"))
    done = ended(folder, "--cases", "10")
    assert done.returncode == 0, done.stdout
    assert (
        "round 0 goes on without test_ops.py::test_deadly: its process was killed by SIGSEGV 2 times at" in done.stdout
    )
    assert judged(folder) == Counter()
    assert summary(folder)["faults"] == []


def test_interrupt(undisturbed: Path, tmp_path: Path) -> None:
    """Ctrl-C stops it with a report of what is done; the same command goes on, and status tells how far it is."""
    folder = tmp_path / "stopped"
    lay(folder)
    running = Running(folder)
    running.until(lambda: done_rounds(folder) >= 2)
    running.process.send_signal(signal.SIGTERM)
    running.process.wait(120)
    running.close()
    output = (folder / "output").read_text()
    assert output.endswith("stopped; the same command goes on\n"), output
    stopped = done_rounds(folder)
    assert stopped < ROUNDS
    command = [INTERPRETER, "-m", "autotest", "campaign", "status"]
    told = subprocess.run(command, cwd=folder, env=variables(folder), capture_output=True, text=True, check=True)  # noqa: S603 - our own command
    assert f" cases in {stopped} rounds and " in told.stdout
    assert "test_ops.py::test_op in" in told.stdout
    assert ended(folder).returncode == 1
    assert summary(folder) == summary(undisturbed)
    other = ended(folder, "--seed", "4")
    assert other.returncode == 2
    assert other.stdout == (
        "seed=4, but the campaign in autotest-campaign was begun with 0: go on with that, or begin another in a "
        "new folder [--folder]\n"
    )


def test_interrupt_right_after_a_round(undisturbed: Path, tmp_path: Path) -> None:
    """A round whose line has just been written is done, whoever knows of it yet: its cases stay."""
    folder = tmp_path / "stopped"
    lay(folder)
    (folder / "sitecustomize.py").write_text(INTERRUPTED)
    stopped = ended(folder)
    assert stopped.stdout.endswith("stopped; the same command goes on\n"), stopped.stdout
    assert done_rounds(folder) == 2
    assert ended(folder).returncode == 1
    assert summary(folder) == summary(undisturbed)


def test_tests_that_cannot_be_collected(tmp_path: Path) -> None:
    """A file that cannot be imported ends the campaign at once, in the words of pytest."""
    lay(tmp_path / "broken")
    (tmp_path / "broken" / "test_ops.py").write_text("import nothing_of_the_kind\n")
    done = ended(tmp_path / "broken")
    assert done.returncode == 2
    assert "ended with status 2 before it had collected the tests; its last words:" in done.stdout
    assert "No module named 'nothing_of_the_kind'" in done.stdout


def test_two_drivers(tmp_path: Path) -> None:
    """A folder has one campaign at a time."""
    lay(tmp_path / "both")
    running = Running(tmp_path / "both")
    try:
        running.until(lambda: (tmp_path / "both" / "autotest-campaign" / "slot-0.log").exists())
        running.process.send_signal(signal.SIGSTOP)  # on a slow machine it would have ended before the other begins
        done = ended(tmp_path / "both")
        assert done.returncode == 2
        assert done.stdout == (
            "autotest-campaign has a campaign that another process runs, but should have none: wait for it, or give "
            "another folder [--folder]\n"
        )
    finally:
        running.process.send_signal(signal.SIGCONT)
        running.close()


def test_status_of_nothing(tmp_path: Path) -> None:
    """A folder without a campaign is named."""
    command = [sys.executable, "-m", "autotest", "campaign", "status", "none"]
    told = subprocess.run(command, cwd=tmp_path, env=environment({}), capture_output=True, text=True, check=False)  # noqa: S603 - our own command
    assert (told.returncode, told.stderr) == (
        2,
        "there is no campaign in none, but should be: name the folder that it was given [FOLDER]\n",
    )


def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """A file is in its way."""
    (tmp_path / "taken").touch()
    command = [sys.executable, "-m", "autotest", "campaign", "--time", "1", "--folder", "taken/inside"]
    told = subprocess.run(command, cwd=tmp_path, env=environment({}), capture_output=True, text=True, check=False)  # noqa: S603 - our own command
    words = "taken/inside cannot be written: Not a directory; choose another folder [--folder]\n"
    assert (told.returncode, told.stderr) == (2, words)


def test_budget_ends_before_the_first_round(tmp_path: Path) -> None:
    """It is said, with the way on."""
    (tmp_path / "test_a.py").write_text(TESTS)
    command = [sys.executable, "-m", "autotest", "campaign", "--time", "1", "--tests", "test_a.py", "-n", "1"]
    told = subprocess.run(command, cwd=tmp_path, env=environment({}), capture_output=True, text=True, check=False)  # noqa: S603 - our own command
    assert (told.returncode, told.stdout.splitlines()[-1]) == (2, NOTHING_ENDED)
