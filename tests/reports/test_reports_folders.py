"""Runs lie under runs/, named by time; the newest ten stay."""

from __future__ import annotations

import json
import shutil
from datetime import datetime, timedelta, timezone

import pytest

from reports import FolderError, PartError, RecordError, latest_run, plan_run, prune_runs, resolve_run, runs
from reports import save_summary as save

NOON = datetime(2026, 1, 2, 12, 0, 0, tzinfo=timezone.utc)


def test_name_of_a_run(tmp_path):
    """A run is named by its second in UTC and its seed."""
    zone = timezone(timedelta(hours=8))
    run = plan_run(tmp_path, 7, NOON.astimezone(zone))
    assert run == tmp_path / "runs" / "20260102-120000-7"
    assert run.is_dir()


def test_runs_of_one_second(tmp_path):
    """Runs of one second are numbered whatever their seeds, and the last is the latest."""
    names = [plan_run(tmp_path, seed, NOON).name for seed in (9, 9, 0)]
    assert names == ["20260102-120000-9", "20260102-120000-9-2", "20260102-120000-0-3"]
    assert latest_run(tmp_path).name == "20260102-120000-0-3"


def test_latest_counts_in_numbers(tmp_path):
    """The tenth run of a second is later than the second."""
    names = [plan_run(tmp_path, 0, NOON).name for _ in range(10)]
    assert [run.name for run in runs(tmp_path)] == names


@pytest.mark.parametrize("seed", [-1, "random", True])
def test_seed_is_part_of_a_name(tmp_path, seed):
    """Only a natural number names a run."""
    with pytest.raises(PartError) as caught:
        plan_run(tmp_path, seed)
    assert str(caught.value) == f"seed={seed!r}, but should be an integer of at least 0 [plan_run]; see --seed"


def test_report_folder_that_is_a_file(tmp_path):
    """A report folder which is a file is refused with the system's reason."""
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError) as caught:
        plan_run(tmp_path / "file", 0, NOON)
    assert str(caught.value) == (
        f"{tmp_path}/file/runs/20260102-120000-0 cannot be written: Not a directory; "
        "free the disk or choose another folder with --autotest-report"
    )


def test_no_run_yet(tmp_path):
    """A report folder without runs is named, with what to do."""
    with pytest.raises(FolderError) as caught:
        latest_run(tmp_path)
    assert str(caught.value) == (
        f"folder='{tmp_path}', but should be a report folder with a run under runs/ [latest_run]; "
        "run the tests first, or name the folder given with --autotest-report"
    )


def test_folder_means_its_run(tmp_path):
    """A user may name the report folder or one run folder."""
    first, last = plan_run(tmp_path, 0, NOON), plan_run(tmp_path, 0, NOON)
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
        f"folder='{tmp_path}/no', but should be a report folder or one of its run folders [resolve_run]; "
        "name the folder given with --autotest-report"
    )


def test_prune_keeps_the_newest(tmp_path):
    """Ten runs stay, and what is not a run stays too."""
    made = [plan_run(tmp_path, 0, NOON + timedelta(minutes=minute)) for minute in range(12)]
    (tmp_path / "runs" / "mine").mkdir()
    (tmp_path / "runs" / "20250101-000000-0").symlink_to(tmp_path)
    assert prune_runs(tmp_path) == made[:2]
    assert runs(tmp_path) == made[2:]
    assert (tmp_path / "runs" / "mine").is_dir()
    assert (tmp_path / "runs" / "20250101-000000-0").is_symlink()


def test_run_that_cannot_be_removed(tmp_path, monkeypatch):
    """A run which stays in spite of pruning is named."""
    old, _ = plan_run(tmp_path, 0, NOON), plan_run(tmp_path, 0, NOON)

    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(shutil, "rmtree", refuse)
    with pytest.raises(RecordError) as caught:
        prune_runs(tmp_path, keep=1)
    assert str(caught.value) == f"{old} cannot be removed: Permission denied; remove it by hand"


def test_prune_keeps_one_at_least(tmp_path):
    """Keeping none would remove the run that just ended."""
    with pytest.raises(PartError) as caught:
        prune_runs(tmp_path, keep=0)
    assert str(caught.value) == "keep=0, but should be at least 1 [prune_runs]"


def test_summary_is_saved_twice(tmp_path, summed):
    """summary.json stands in the run folder and in the report folder, and no draft is left."""
    summary, run = summed(), plan_run(tmp_path / "report", 0, NOON)
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
        f"{tmp_path}/no/summary.json cannot be written: No such file or directory; "
        "free the disk or choose another folder with --autotest-report"
    )
