"""Runs lie under runs/, named by time."""

from __future__ import annotations

import json
import os
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from reports import (
    FolderError,
    PartError,
    RecordError,
    RecordWriter,
    latest_run,
    plan_run,
    resolve_run,
    runs,
)
from reports import save_summary as save

NOON = datetime(2026, 1, 2, 12, 0, 0, tzinfo=timezone.utc)


def made_run(report_dir, seed, now, process=1):
    """Plan a run and create its folder, as its first record would."""
    run = plan_run(report_dir, seed, now, process)
    run.mkdir(parents=True)
    return run


def test_name_of_a_run(tmp_path):
    """A run is named by its second in UTC, its seed and its process."""
    zone = timezone(timedelta(hours=8))
    assert plan_run(tmp_path, 7, NOON.astimezone(zone), 42) == tmp_path / "runs" / "20260102-120000-7-42"


def test_name_of_this_process(tmp_path):
    """Without a process, this one names the run."""
    assert plan_run(tmp_path, 7, NOON).name == f"20260102-120000-7-{os.getpid()}"


def test_name_of_this_moment(tmp_path):
    """Without a moment, a run is named by now, in UTC."""
    before = datetime.now(timezone.utc).replace(microsecond=0)
    stamp = plan_run(tmp_path, 7, process=1).name.removesuffix("-7-1")
    named = datetime.strptime(stamp, "%Y%m%d-%H%M%S").replace(tzinfo=timezone.utc)
    assert before <= named <= datetime.now(timezone.utc)


def test_planning_creates_nothing(tmp_path):
    """A planned run leaves no trace, and is no run yet."""
    plan_run(tmp_path, 0, NOON)
    assert list(tmp_path.iterdir()) == []
    assert runs(tmp_path) == []


def test_runs_of_one_second(tmp_path):
    """Runs of one second are told apart and ordered by their processes, whatever their seeds."""
    names = [made_run(tmp_path, seed, NOON, process).name for seed, process in ((9, 7), (9, 8), (0, 9))]
    assert names == ["20260102-120000-9-7", "20260102-120000-9-8", "20260102-120000-0-9"]
    assert latest_run(tmp_path).name == "20260102-120000-0-9"


def test_latest_wrote_last(tmp_path):
    """Of two runs of one second the later one may have the lower process id: these begin anew at their end."""
    for process, written in ((32767, 1), (12, 2)):
        records = made_run(tmp_path, 0, NOON, process) / "records-main.jsonl"
        records.write_text("{}\n")
        os.utime(records, ns=(written, written))
    assert latest_run(tmp_path).name == "20260102-120000-0-12"


def test_latest_counts_in_numbers(tmp_path):
    """Process 10 of a second is later than process 9."""
    names = [made_run(tmp_path, 0, NOON, process).name for process in range(1, 11)]
    assert [run.name for run in runs(tmp_path)] == names


@pytest.mark.parametrize("seed", [-1, "random", True])
def test_seed_is_part_of_a_name(tmp_path, seed):
    """Only a natural number names a run."""
    with pytest.raises(PartError) as caught:
        plan_run(tmp_path, seed)
    assert str(caught.value) == f"seed={seed!r}, but should be an integer of at least 0 [plan_run]; see --seed"


def test_report_folder_that_is_a_file(tmp_path):
    """A report folder which is a file is refused when the run is written, with the system's reason."""
    (tmp_path / "file").write_text("")
    run = plan_run(tmp_path / "file", 0, NOON, 1)
    with pytest.raises(RecordError) as caught:
        RecordWriter(run, "main", seed=0, target="torch", environment={}, command="pytest")
    assert str(caught.value) == (
        f"{run}/records-main.jsonl cannot be written: Not a directory; choose another folder with --report"
    )


def test_no_run_yet(tmp_path):
    """A report folder without runs is named, with what to do."""
    with pytest.raises(FolderError) as caught:
        latest_run(tmp_path)
    assert str(caught.value) == (
        f"there is no run in '{tmp_path}/runs': "
        "run the tests first, or name the folder that was given with --report, or a run in it"
    )


def test_folder_means_its_run(tmp_path):
    """A user may name the report folder or one run folder."""
    first, last = made_run(tmp_path, 0, NOON, 1), made_run(tmp_path, 0, NOON, 2)
    assert resolve_run(tmp_path) == last
    assert resolve_run(first) == first


def test_copied_run_folder(tmp_path):
    """A run folder which was renamed is known by its records."""
    (tmp_path / "records-main.jsonl").write_text("")
    assert resolve_run(tmp_path) == tmp_path


def test_missing_report_folder(tmp_path):
    """A folder which does not exist is named."""
    with pytest.raises(FolderError) as caught:
        resolve_run(tmp_path / "no")
    assert str(caught.value) == (
        f"there is no report folder '{tmp_path}/no' in {Path.cwd()}: "
        "run the tests first, or name the folder that was given with --report, or a run in it"
    )


def test_run_by_its_name(tmp_path, monkeypatch):
    """A run's name, or as much of it as no other begins with, means the run in the usual report folder."""
    monkeypatch.chdir(tmp_path)
    usual = Path("autotest-report")
    first, last = made_run(usual, 0, NOON, 1), made_run(usual, 7, NOON, 2)
    assert resolve_run(Path(first.name), usual) == first
    assert resolve_run(Path(last.name[:17]), usual) == last
    with pytest.raises(FolderError) as caught:
        resolve_run(Path(first.name[:8]), usual)
    assert str(caught.value) == f"run={first.name[:8]!r}, but should name one of {first.name}, {last.name}"
    for elsewhere in ("20200101", first.name[:7]):
        with pytest.raises(FolderError, match=f"^there is no report folder '{elsewhere}' in "):
            resolve_run(Path(elsewhere), usual)
    with pytest.raises(FolderError, match=r"^there is no report folder"):
        resolve_run(Path(first.name))
    (tmp_path / first.name).mkdir()
    assert resolve_run(Path(first.name), usual) == Path(first.name)


def test_summary_is_saved_twice(tmp_path, summed):
    """summary.json stands in the run folder and in the report folder, and no draft is left."""
    summary, run = summed(), made_run(tmp_path / "report", 0, NOON)
    assert save(run, summary) == run / "summary.json"
    copy = tmp_path / "report" / "summary.json"
    assert copy.read_bytes() == (run / "summary.json").read_bytes()
    assert json.loads(copy.read_text()) == summary.to_json()
    assert [path.name for path in run.iterdir()] == ["summary.json"]


def test_summary_that_cannot_be_saved(tmp_path, summed):
    """A missing folder is told with the system's reason and the knob."""
    with pytest.raises(RecordError) as caught:
        save(tmp_path / "no", summed())
    assert str(caught.value) == (
        f"{tmp_path}/no/summary.json cannot be written: No such file or directory; choose another folder with --report"
    )
