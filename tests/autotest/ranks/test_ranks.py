"""Real runs of two ranks: what they find counts once, and a rank that dies or hangs is named, with no process left."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from click import UsageError

from autotest import EnvironmentFault
from autotest.cases.store import ReplayError
from autotest.commands.replaying.stored import shown
from autotest.compare.difference import Difference
from autotest.ranks.environment import Resume
from autotest.ranks.launcher import End, Ranks, _record, run_ranks
from autotest.ranks.peers import Note, Notes, Peers, read_note
from autotest.workers.worker import last_words
from reports import read_run, summarize
from support.forks import forks
from support.runs import INTERPRETER, Outcome, environment, lay

pytestmark = pytest.mark.slow

RELU = """
from autotest import autotest, globaltest, random_tensor, sbp, torch

@globaltest
@autotest(n=2)
def test_relu():
    return torch.relu(random_tensor(ndim=2, dim0=3).to_global(sbp=sbp.split(0)))

@globaltest
@autotest(n=1)
def test_abs():
    return torch.abs(random_tensor(ndim=1))
"""
#: The ranks' tests differ.
APART = "import os\nif os.environ['RANK'] == '1':\n    def test_more():\n        pass\n"
#: The command itself: `-m autotest` would put the folder of a run on the import path.
SCRIPT = str(Path(INTERPRETER).with_name("autotest"))
OPTIONS = {
    "target": "oneflow",
    "target_python": None,
    "override": (),
    "seed": "0",
    "report": "r",
    "case_timeout": "5",
    "isolate": "auto",
}

with_oneflow = pytest.mark.skipif(importlib.util.find_spec("oneflow") is None, reason="oneflow is not installed")


def processes_in(folder: Path) -> list[int]:
    """The processes that work in a folder."""
    found = []
    for process in psutil.process_iter():
        try:
            if Path(process.cwd()) == folder:
                found.append(process.pid)
        except (psutil.Error, OSError):
            continue
    return found


def run(folder: Path, files: Mapping[str, str], *arguments: str, fault: str = "") -> Outcome:
    """Run two ranks on `files` and see that none of their processes is left."""
    folder.mkdir(exist_ok=True)
    lay(folder, files)
    command = [SCRIPT, "run", *files, "--ranks", "2", "--repro-total", "0", *arguments]
    done = forks().run(command, folder, environment({"RANK_FAULT": fault}), merged=True)
    deadline = time.monotonic() + 10
    while processes_in(folder) and time.monotonic() < deadline:  # a fork is killed once its launcher was
        time.sleep(0.05)
    assert processes_in(folder) == [], done.stdout
    return Outcome(done.returncode, done.stdout, folder)


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Outcome]:
    """Give a function which runs the two tests with a fault, once per fault."""
    made: dict[str, Outcome] = {}

    def outcome(fault: str) -> Outcome:
        if fault not in made:
            folder = tmp_path_factory.mktemp("ranks") / (fault or "sound")
            more = ["--case-timeout", "15"] if fault == "hang" else []
            files = {"test_ranks.py": RELU.replace("(n=2)", "(n=1)") if fault == "hang" else RELU}
            made[fault] = run(folder, files, "--target", "rank_faults:Adapter", *more, fault=fault)
        return made[fault]

    return outcome


def run_folder(outcome: Outcome) -> Path:
    """The one run that an outcome left."""
    [folder] = (outcome.folder / "autotest-report" / "runs").iterdir()
    return folder


@with_oneflow
def test_cases_count_once(ranks: Callable[[str], Outcome]) -> None:
    """Each rank has its own records and output in one run folder; a case of two ranks is one case."""
    outcome = ranks("")
    assert outcome.status == 0, outcome.out
    counts = {"tests": 2, "cases": 3, "aligned": 3, "divergent": 0, "rejected": 0, "crashed": 0, "timed_out": 0}
    assert outcome.counts() == counts
    folder = run_folder(outcome)
    assert {path.name for path in folder.glob("rank*")} == {"rank0.log", "rank1.log"}
    ends = {}
    for name in ("rank0", "rank1"):
        lines = (folder / f"records-{name}.jsonl").read_text().splitlines()
        ends[name] = [record["key"] for record in map(json.loads, lines) if record["type"] == "end"]
    assert (
        ends["rank0"]
        == ends["rank1"]
        == [f"test_ranks.py::{case}" for case in ("test_relu#0", "test_relu#1", "test_abs#0")]
    )
    assert summarize(read_run(folder)).graph.verified == 3
    assert (folder / "exit-status").read_text().strip() == "0"


@with_oneflow
def test_divergence_of_one_rank(ranks: Callable[[str], Outcome]) -> None:
    """A wrong value that one rank sees is blamed on its call by all, is told once, and with the rank that saw it."""
    outcome = ranks("wrong")
    assert outcome.status == 1, outcome.out
    rows = [row for end in outcome.ends("test_relu") for row in end["divergences"]]
    eager = {(row["phase"], row["kind"], row["op"], row["message"].rpartition("; ")[2]) for row in rows}
    assert ("global_forward", "value", "relu", "seen by rank 1 of 2") in eager
    assert {seen for *_, seen in eager} == {"seen by rank 1 of 2"}
    assert outcome.counts()["divergent"] == 2
    assert outcome.counts()["cases"] == 3
    [shown] = {row["fingerprint"]: row for row in rows if row["phase"] == "global_forward"}.values()
    assert shown["evidence"]["worst"][0]["reference"] == shown["evidence"]["worst"][0]["eager"] - 1


@with_oneflow
def test_replay_needs_its_ranks(ranks: Callable[[str], Outcome]) -> None:
    """A Program of two ranks is not replayed on one: the sentence says how to see it again."""
    outcome = ranks("wrong")
    rows = [row for end in outcome.ends("test_relu") for row in end["divergences"]]
    [id_] = {row["id"] for row in rows if row["phase"] == "global_forward"}
    with pytest.raises(ReplayError) as caught:
        shown(id_, outcome.folder / "autotest-report", None, 60.0)
    again = "run its test again, autotest run test_ranks.py::test_relu --ranks 2"
    assert str(caught.value) == f"{id_} has tensors on 2 ranks: {again}"


@with_oneflow
def test_exception_on_one_rank(ranks: Callable[[str], Outcome]) -> None:
    """Where a call raises on one rank the others stop with it, and the run goes on with the next case."""
    outcome = ranks("raise")
    assert outcome.status == 1, outcome.out
    assert outcome.messages("test_relu") == {
        "relu: relu raised ValueError: planted on one rank; seen by rank 1 of 2",
    }
    assert outcome.outcomes() == {"test_relu": "failed", "test_abs": "passed"}


@with_oneflow
def test_rank_that_dies(ranks: Callable[[str], Outcome]) -> None:
    """A rank that dies is named with its last words, all are ended, and its case counts as crashed. New ranks go on
    with the next case, and the test that has lost one fails.
    """
    outcome = ranks("die")
    first, second = (
        f"rank 1 died in test_ranks.py::test_relu#{case} (relu): killed by SIGABRT: "
        "planted.cpp:1] Check failed: a == b (1 vs. 2)"
        for case in range(2)
    )
    assert outcome.status == 1
    assert outcome.out.splitlines()[-2:] == [f"{sentence}; all ranks were ended" for sentence in (first, second)]
    assert f"{first}; the ranks start again behind it\n" in outcome.out
    counts = outcome.counts()
    assert (counts["crashed"], counts["aligned"], counts["cases"]) == (2, 1, 3)
    rows = [row for end in outcome.records() for row in end["divergences"]]
    assert [row["message"] for row in rows] == [first, second]
    row = rows[0]
    assert (row["kind"], row["op"], row["phase"]) == ("crash", "relu", "global_forward")
    assert outcome.outcomes() == {"test_relu": "failed", "test_abs": "passed"}
    lost = (
        "test_ranks.py::test_relu#0, test_ranks.py::test_relu#1 ended the ranks; the other cases have run on new ones"
    )
    assert lost in outcome.out
    log = (run_folder(outcome) / "rank1.log").read_text()
    assert log.count("Check failed") == 2
    assert row["replay"] == "autotest run test_ranks.py::test_relu --ranks 2"
    assert outcome.summary["running"] == []


@with_oneflow
def test_rank_that_hangs(ranks: Callable[[str], Outcome]) -> None:
    """A rank that stands still is named, not the one that waits for it, and its case counts as timed out."""
    outcome = ranks("hang")
    assert outcome.status == 1
    last = outcome.out.splitlines()[-1]
    assert last == "rank 1 stood still for 15 s in test_ranks.py::test_relu#0 (relu); all ranks were ended"
    assert (outcome.counts()["timed_out"], outcome.counts()["aligned"]) == (1, 1)


@with_oneflow
def test_rank_that_dies_at_import(ranks: Callable[[str], Outcome]) -> None:
    """A rank whose target dies at import ends the run, which cannot start: one sentence, exit 2, no report."""
    outcome = ranks("import")
    assert outcome.status == 2
    sentence = (
        "rank 1 died at import: exited with status 7: Fatal Python error: planted at import; all ranks were ended"
    )
    assert outcome.out.splitlines()[-1] == sentence
    assert not (outcome.folder / "autotest-report").exists()


@with_oneflow
def test_ranks_with_different_tests(tmp_path: Path) -> None:
    """Ranks that collect different tests cannot run together, and say so."""
    outcome = run(tmp_path / "apart", {"test_apart.py": RELU + APART})
    assert outcome.status == 2
    told = "the ranks collected different tests, but should collect the same ones in the same order"
    assert outcome.out.splitlines()[-1] == told


def test_target_without_global_tensors(tmp_path: Path) -> None:
    """A target without global tensors is refused in one sentence; a package of the project's that is called as one of
    ours is in nobody's way.
    """
    lay(tmp_path, {"torch/reports/__init__.py": "raise AssertionError('imported')\n"})
    outcome = run(tmp_path / "torch", {"tests/test_ranks.py": RELU}, "--target", "torch")
    assert outcome.status == 2
    assert outcome.out.splitlines()[-1] == (
        "target='torch', but should be one with global tensors, such as oneflow [--ranks]"
    )


def test_target_that_is_not_there(tmp_path: Path) -> None:
    """A target that cannot be imported is one sentence."""
    outcome = run(tmp_path / "none", {"test_ranks.py": RELU}, "--target", "no_such_module:Adapter")
    assert outcome.status == 2
    assert outcome.out.splitlines()[-1] == (
        "target 'no_such_module:Adapter' cannot be imported: ModuleNotFoundError: No module named 'no_such_module'"
        "; put the folder that holds no_such_module on the import path, as PYTHONPATH=. does for this one"
    )


@pytest.mark.parametrize(
    ("count", "workers", "changes", "sentence"),
    [
        (2, "4", {}, "-n='4', but should be left out with --ranks: every rank is one process"),
        (
            2,
            "auto",
            {"isolate": "always"},
            "isolate='always', but should be left out with --ranks: every rank runs the target in its own process",
        ),
        (
            2,
            "auto",
            {"case_timeout": "soon"},
            "case_timeout='soon', but should be a number of seconds of at least 0 [--case-timeout]",
        ),
        (
            2,
            "auto",
            {"seed": "x"},
            "seed='x', but should be a whole number of at least 0, or 'random' [--seed]",
        ),
    ],
)
def test_options_that_ranks_cannot_have(count: int, workers: str, changes: Mapping[str, str], sentence: str) -> None:
    """What several ranks cannot have is refused before any of them starts."""
    with pytest.raises(UsageError) as caught:
        run_ranks([], count, workers, {**OPTIONS, **changes})
    assert caught.value.message == sentence


def test_more_ranks_than_memory_carries() -> None:
    """More ranks than the machine can start are refused, with how many it can."""
    with pytest.raises(UsageError) as caught:
        run_ranks([], 100_000, "auto", OPTIONS)
    pattern = r"ranks=100000, but should be at most \d+: a rank takes 1 GB, and \d+\.\d GB are free \[--ranks\]"
    assert re.fullmatch(pattern, caught.value.message)


#: What a rank's script can note, without the time that our own imports take.
HEAD = """
import json, os, time
class n:
    def write(**told):
        open({notes!r} + ".new", "w").write(json.dumps(told))
        os.rename({notes!r} + ".new", {notes!r})
"""


class Told:
    """Ranks that are told what they note: a script instead of pytest, so that no framework starts."""

    def __init__(self, place: Path, scripts: list[str]) -> None:
        self.ranks = Ranks(place, 0, [], {})
        from autotest.ranks.launcher import _spawn

        for number, script in enumerate(scripts):
            notes = place / f"rank{number}.json"
            head = HEAD.format(notes=str(notes))
            command = [sys.executable, "-c", head + script]
            self.ranks.all.append(_spawn(number, command, environment({}), place / f"rank{number}.log", notes))

    def end(self, timeout: float | None) -> End | None:
        """How they end."""
        with self.ranks:
            return self.ranks.wait(timeout)


WAITS = "n.write(step=1, stage='ready', test='a::b', key='b#0', op='relu', waits=True); time.sleep(100)"
RUNS = "n.write(step=1, stage='ready', test='a::b', key='b#0', op='relu'); time.sleep(100)"
ENDS = "n.write(step=1, stage='ended', status=0)"


@pytest.mark.parametrize(
    ("scripts", "end"),
    [
        ([WAITS, RUNS], End((1,), "hung", "rank 1 stood still for 1 s in b#0 (relu)")),
        ([RUNS, RUNS], End((0, 1), "hung", "ranks 0 and 1 stood still for 1 s in b#0 (relu)")),
        ([WAITS, WAITS], End((0, 1), "hung", "ranks 0 and 1 waited 1 s in b#0 (relu) for one another")),
        ([ENDS, WAITS], End((1,), "hung", "rank 1 waited 1 s in b#0 (relu) for rank 0, which has ended its tests")),
        (
            [WAITS.replace("waits=True", "waits=True, said='its graph raised E: m'"), RUNS],
            End((1,), "hung", "rank 1 stood still for 1 s in b#0 (relu); before, rank 0: its graph raised E: m"),
        ),
        (["n.write(step=1, stage='refused', said='no')", WAITS], End((0,), "refused", "no")),
        ([WAITS, "print('bye'); os._exit(4)"], End((1,), "import", "rank 1 died at import: exited with status 4: bye")),
        (
            [WAITS, "n.write(step=1, stage='ready', test='a::b'); os._exit(4)"],
            End((1,), "died", "rank 1 died in a::b: exited with status 4"),
        ),
        ([ENDS, ENDS], None),
    ],
)
def test_who_is_at_fault(scripts: list[str], end: End | None, tmp_path: Path) -> None:
    """From what ranks note it follows which of them stands still, died, refused, or merely waits."""
    assert Told(tmp_path, scripts).end(1.0) == end


def test_rank_that_never_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rank that never gets its tests together is named by where it is; one that got farther is not."""
    monkeypatch.setattr("autotest.ranks.launcher.LEAST_START", 1.0)
    scripts = ["n.write(step=1, test='the start of the target'); time.sleep(100)", "time.sleep(100)"]
    found = Told(tmp_path, scripts).end(0.5)
    assert found == End((1,), "import", "rank 1 did not get past the start in 1 s")


@pytest.mark.usefixtures("real_interpreter")
def test_killing_takes_children_along(tmp_path: Path) -> None:
    """Whatever a rank has started in its group ends with it."""
    script = (
        "import subprocess\np = subprocess.Popen(['sleep', '100'])\n"
        "n.write(step=1, stage='refused', said=str(p.pid))\ntime.sleep(100)"
    )
    found = Told(tmp_path, [script]).end(5.0)
    assert found is not None
    deadline = time.monotonic() + 5
    while psutil.pid_exists(int(found.sentence)) and time.monotonic() < deadline:
        if psutil.Process(int(found.sentence)).status() == psutil.STATUS_ZOMBIE:
            return
        time.sleep(0.05)
    assert not psutil.pid_exists(int(found.sentence))


def test_death_under_a_configuration(tmp_path: Path) -> None:
    """A graph that ends the ranks is told with its configuration, and new ranks are told what has run."""
    rank = Told(tmp_path, ["pass"]).ranks.all[0]
    rank.kill()
    rank.note = Note("ready", "test_a.py::test_b", "test_a.py::test_b#1", "graph", "enable_zero.2.1")
    assert rank.note.place() == "test_a.py::test_b#1 (graph under enable_zero.2.1)"
    end = End((0,), "died", "rank 0 died")
    resume = _record([rank], end, tmp_path, 0, {**OPTIONS, "inputs": "standard"})
    assert resume == Resume("test_a.py::test_b", {"test_a.py::test_b#1": "crashed"})
    [record] = [json.loads(line) for line in (tmp_path / "records-rank0.jsonl").read_text().splitlines()[1:]]
    [row] = record["divergences"]
    assert row["fingerprint"] == "oneflow/graph_forward/crash/graph/1 ranks,config=enable_zero.2.1"
    rank.note = Note("ready", "test_a.py::test_b")
    assert _record([rank], end, tmp_path, 0, {**OPTIONS, "inputs": "standard"}) is None


def test_notes(tmp_path: Path) -> None:
    """A note is read back as it was written, the longest within its bytes, and a file without one is a start."""
    path = tmp_path / "note"
    assert read_note(path) == Note()
    notes = Notes(path)
    assert read_note(path) == Note()
    notes.write(stage="ready", key="k")
    assert read_note(path) == Note("ready", key="k", step=1)
    notes.write(key="x" * 10_000, said="y" * 10_000)
    assert read_note(path) == Note("ready", said="y" * 1000, step=2)
    notes.write(key="k", said="")
    assert read_note(path) == Note("ready", key="k", step=3)
    notes.close()
    notes.close()


class Gathering:
    """What two ranks pass, from the point of view of rank 0; `other` is what rank 1 passes next."""

    rank = 0
    world_size = 2

    def __init__(self) -> None:
        self.other: Iterator[Any] = iter(())

    def gather(self, data: bytes) -> list[bytes]:
        """Both."""
        return [data, json.dumps(next(self.other)).encode()]

    def own(self, leaf: Any) -> Any:
        """Nothing."""

    def spread(self, tensor: Any, placement: Any, sbp: Any) -> Any:
        """Nothing."""


def test_ranks_that_part() -> None:
    """Ranks that are at different places are told so at once."""
    world = Gathering()
    world.other = iter([["call 2 (relu)", None]])
    with pytest.raises(EnvironmentFault) as caught:
        Peers(world).share("call 1 (abs)", None)
    assert str(caught.value) == (
        "the ranks have parted: rank 1 is at call 2 (relu), but should be at call 1 (abs), as rank 0 is; every rank "
        "must run the same calls in the same order"
    )


def test_differences_are_agreed_on() -> None:
    """All ranks get the same differences in the same order, each with those that saw it; their own with tensors."""
    world = Gathering()
    theirs = ["global_forward", "value", "t0", "t0 differs there", None, "output", "0"]
    extra = ["global_forward", "shape", "t1", "t1 has shape", 3, "output", "1"]
    world.other = iter([["here", [extra, theirs]]])
    own = Difference("global_forward", "value", "t0", "t0 differs here", key="0")
    found = Peers(world).agree("here", [own])
    assert [(d.message, d.call, d.ranks) for d in found] == [
        ("t0 differs here", None, (0, 1)),
        ("t1 has shape", 3, (1,)),
    ]
    assert found[0] == replace(own, ranks=(0, 1))


def test_rows_are_merged() -> None:
    """A row that another rank alone saw is taken over; one that only echoes what another saw is left to it."""
    world = Gathering()
    world.other = iter([["end", [{"fingerprint": "a", "message": "there"}, {"fingerprint": "b", "message": "b"}]]])
    rows = [({"fingerprint": "a", "message": "here"}, ()), ({"fingerprint": "c", "message": "c"}, (1,))]
    assert Peers(world).merge("end", rows) == [
        {"fingerprint": "a", "message": "here; seen by all 2 ranks"},
        {"fingerprint": "b", "message": "b; seen by rank 1 of 2"},
    ]


def test_last_words_after_dots() -> None:
    """pytest's dots before a fatal error or glog's line do not hide it."""
    glog = b"test_a.py ..F20260101 00:00:00.000000     1 planted.cpp:1] Check failed: a == b"
    assert last_words([glog]) == "planted.cpp:1] Check failed: a == b"
    output = [b"test_a.py ...Fatal Python error: Aborted", b'  File "x.py", line 1 in <module>']
    assert last_words(output) == "Fatal Python error: Aborted"
