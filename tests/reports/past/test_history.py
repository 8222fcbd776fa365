"""Runs of a report folder: which are kept, and how they are listed."""

from __future__ import annotations

import json
import shutil
from datetime import datetime, timedelta, timezone

import pytest

from reports import PartError, RecordError, load_saved, prune_runs, read_run, runs, save_status, save_summary, summarize
from reports.errors import FolderError
from reports.past.history import KEPT_RUNS, KEPT_SELECTIONS, Listed, Past, history, listed

NOON = datetime(2026, 1, 2, 12, 0, 0, tzinfo=timezone.utc)
LATER = NOON + timedelta(days=30)


@pytest.fixture
def made(tmp_path, header, case, row, ended):
    """Give a function which makes a run that began so many minutes after noon, and returns its folder.

    `tests` of it ran, the first of which shows the divergences `ids`, whose programs are stored; without a `status` it
    never ended.
    """

    def make(minutes, selection="suites", tests=1, ids=(), status=0, **fields):
        stamp = (NOON + timedelta(minutes=minutes)).strftime("%Y%m%d-%H%M%S")
        folder = tmp_path / "runs" / f"{stamp}-0-1"
        folder.mkdir(parents=True)
        divergences = [
            row(id=id_, test="t.py::0", fingerprint=f"oneflow/eager_forward/value/relu/{id_}") for id_ in ids
        ]
        lines = [header(selection=selection, **fields)]
        for number in range(tests):
            rows = [] if number else divergences
            lines += case(f"t.py::{number}", verdict="divergent" if rows else "aligned", divergences=rows)
            lines.append(ended(f"t.py::{number}", outcome="failed" if rows else "passed"))
        (folder / "records-main.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        for id_ in ids:
            (folder / "programs").mkdir(exist_ok=True)
            (folder / "programs" / f"{id_}-main-1.json").write_text("{}")
        save_summary(folder, summarize(read_run(folder)))
        if status is not None:
            save_status(folder, status)
        return folder

    return make


def test_the_newest_are_kept(made, tmp_path):
    """Ten runs stay whatever they ran, and what is not a run stays too."""
    every = [made(minute, f"t.py -k {minute}", status=None) for minute in range(KEPT_RUNS + KEPT_SELECTIONS + 2)]
    (tmp_path / "runs" / "mine").mkdir()
    (tmp_path / "runs" / "20250101-000000-0").symlink_to(tmp_path)
    for run in every:
        (run / "summary.json").unlink()  # whose selection nobody knows
    assert prune_runs(tmp_path, now=LATER) == every[:-KEPT_RUNS]
    assert runs(tmp_path) == every[-KEPT_RUNS:]
    assert (tmp_path / "runs" / "mine").is_dir()
    assert (tmp_path / "runs" / "20250101-000000-0").is_symlink()


def test_whole_suites_outlive_partial_ones(made, tmp_path):
    """Three runs of what had the most tests stay behind fifty of one test, of another target as well."""
    whole = [made(minute, tests=9) for minute in range(5)]
    other = made(6, tests=8, target="torch")
    partial = [made(10 + minute, f"suites -k {minute}") for minute in range(50)]
    # Of equally small selections, the newest stay.
    assert prune_runs(tmp_path, now=LATER) == [*whole[:2], *partial[: 50 - KEPT_RUNS]]
    assert runs(tmp_path) == [*whole[2:], other, *partial[-KEPT_RUNS:]]
    assert prune_runs(tmp_path, now=LATER) == []


def test_the_only_run_with_a_divergence_is_kept_for_a_day(made, tmp_path):
    """What somebody may be reading stays within a day: the newest run that holds it, and what has not ended."""
    first = made(0, tests=5, ids=["aaaaaaaa"])
    second = made(1, tests=5, ids=["aaaaaaaa", "bbbbbbbb"], status=1)
    made(2, tests=5, ids=["bbbbbbbb"])
    running = made(3, tests=5, status=None)
    empty = made(4, tests=5)
    idle = [made(10 + minute, tests=5) for minute in range(3)]
    newest = [made(20 + minute) for minute in range(KEPT_RUNS)]
    assert first.exists()
    gone = prune_runs(tmp_path, now=NOON + timedelta(hours=20))
    assert gone == [first, empty, *idle]
    assert second in runs(tmp_path)
    assert running in runs(tmp_path)
    late = prune_runs(tmp_path, now=NOON + timedelta(hours=25))
    assert {second, running} <= set(late)
    assert set(newest) <= set(runs(tmp_path))


def test_script_counts_as_a_program_does(made, tmp_path):
    """A folder of a script holds its divergence, another folder beside it does not."""
    run = made(0)
    (run / "repros" / "0a1b2c3d").mkdir(parents=True)
    (run / "repros" / "notes").mkdir()
    assert history(tmp_path)[0].ids() == {"0a1b2c3d"}


def test_run_that_cannot_be_removed(made, tmp_path, monkeypatch):
    """A run which stays in spite of pruning is named; one that another process removed is no error."""
    old = made(0, "a")
    for minute in range(1, 3 + KEPT_SELECTIONS):
        made(minute, f"b -k {minute}", tests=2)

    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(shutil, "rmtree", refuse)
    with pytest.raises(RecordError) as caught:
        prune_runs(tmp_path, keep=1, now=LATER)
    assert str(caught.value) == f"{old} cannot be removed: Permission denied; remove it by hand"

    def gone(path):
        monkeypatch.undo()
        shutil.rmtree(path)
        raise FileNotFoundError

    monkeypatch.setattr(shutil, "rmtree", gone)
    assert old in prune_runs(tmp_path, keep=1, now=LATER)


def test_one_is_kept_at_least(tmp_path):
    """Keeping none would remove the run that just ended."""
    with pytest.raises(PartError) as caught:
        prune_runs(tmp_path, keep=0)
    assert str(caught.value) == "keep=0, but should be at least 1 [prune_runs]"


def test_listing(made, tmp_path):
    """Each run is listed with how it ended, what it ran, its tests and its new divergences, the newest first."""
    made(0, "suites", tests=3, ids=["aaaaaaaa", "bbbbbbbb"], status=1)
    (made(1, status=None) / "summary.json").unlink()
    (made(2, None, status=0) / "exit-status").write_text("fine\n")
    here = made(3, "suites -k relu", target="torch")
    assert list(listed(history(tmp_path), here, "../")) == [
        Listed("20260102-120300-0-1", None, "", "suites -k relu on torch", 1, 0, 0, 1, 10.0, True),
        Listed("20260102-120200-0-1", "../20260102-120200-0-1/index.html", "", "oneflow", 1, 0, 0, 1, 10.0),
        Listed("20260102-120100-0-1", "../20260102-120100-0-1/index.html", "not ended", "", None, None),
        Listed(
            "20260102-120000-0-1", "../20260102-120000-0-1/index.html", "red", "suites on oneflow", 3, 2, 0, 3, 10.0
        ),
    ]


def test_run_without_a_summary(made, tmp_path):
    """What cannot be read of a run is kept as the reason."""
    run = made(0)
    assert history(tmp_path) == [Past(run, load_saved(run))]
    (run / "summary.json").unlink()
    [past] = history(tmp_path)
    assert isinstance(past.saved, FolderError)
