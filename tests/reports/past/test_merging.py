"""Shards become one run; what does not belong together is refused by name, and nothing is written."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from reports import (
    FolderError,
    MergeError,
    RecordError,
    join_status,
    load_status,
    merge_runs,
    read_run,
    resolve_run,
    save_status,
    summarize,
)


@pytest.fixture
def shard(tmp_path, header, case, ended):
    """Give a function which writes a finished run of one test and returns its folder."""

    def make(name, test, status=0, *, records=None, worker="gw0", **fields):
        folder = tmp_path / name
        folder.mkdir()
        told = [*case(test), ended(test)] if records is None else records
        lines = [json.dumps(record) + "\n" for record in (header(worker=worker, **fields), *told)]
        (folder / f"records-{worker}.jsonl").write_text("".join(lines))
        if status is not None:
            save_status(folder, status)
        return folder

    return make


def merged_status(folders, report):
    """Merge, and return the exit status of the merged run."""
    merged = merge_runs(folders, report)
    status = join_status(merged, summarize(read_run(merged.folder)))
    assert load_status(merged.folder) == status
    return status


def test_records_of_both(shard, tmp_path):
    """Record files of one name lie side by side under their shards' numbers, and every test counts."""
    merged = merge_runs([shard("a", "t::a"), shard("b", "t::b")], tmp_path / "m")
    assert sorted(path.name for path in merged.folder.iterdir()) == ["records-1-gw0.jsonl", "records-2-gw0.jsonl"]
    assert resolve_run(tmp_path / "m") == merged.folder
    summary = summarize(read_run(merged.folder))
    assert (summary.tests, summary.aligned, summary.seed, summary.complete) == (2, 2, 7, True)
    assert (merged.statuses, merged.unended) == ((0, 0), ())


def test_programs_of_both(shard, tmp_path):
    """Programs of one name, and what lies in folders below them, keep their ids and both halves."""
    folders = [shard("a", "t::a"), shard("b", "t::b")]
    for folder in folders:
        (folder / "programs" / "proofs").mkdir(parents=True)
        for name in ("0a1b2c3d-gw0-1.json", "0a1b2c3d-gw0-1.npz", "proofs/0a1b2c3d-gw0-1.json"):
            (folder / "programs" / name).write_text(f"{folder.name} {name}")
    programs = merge_runs(folders, tmp_path / "m").folder / "programs"
    found = {str(path.relative_to(programs)): path.read_text() for path in programs.rglob("*.*")}
    assert found == {
        "0a1b2c3d-1-gw0-1.json": "a 0a1b2c3d-gw0-1.json",
        "0a1b2c3d-1-gw0-1.npz": "a 0a1b2c3d-gw0-1.npz",
        "0a1b2c3d-2-gw0-1.json": "b 0a1b2c3d-gw0-1.json",
        "0a1b2c3d-2-gw0-1.npz": "b 0a1b2c3d-gw0-1.npz",
        "proofs/0a1b2c3d-1-gw0-1.json": "a proofs/0a1b2c3d-gw0-1.json",
        "proofs/0a1b2c3d-2-gw0-1.json": "b proofs/0a1b2c3d-gw0-1.json",
    }


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"seed": 8}, "seed=8 in {b}, but should be 7 as in {a}"),
        ({"inputs": "edge"}, "inputs='edge' in {b}, but should be None as in {a}"),
        ({"target": "torch"}, "target='torch' in {b}, but should be 'oneflow' as in {a}"),
        (
            {"environment": {"torch": "2.0.1", "oneflow": "0.9.0"}},
            "torch='2.0.1' in {b}, but should be '2.14.1' as in {a}",
        ),
    ],
)
def test_shards_of_different_runs(shard, tmp_path, fields, told):
    """Another seed, target, version or kind of inputs is named, and no run is written."""
    a, b = shard("a", "t::a"), shard("b", "t::b", **fields)
    sentence = (
        f"{told.format(a=a, b=b)} [merge]; "
        "shards can be merged only where target, seed, inputs and versions are the same"
    )
    with pytest.raises(MergeError, match=f"^{re.escape(sentence)}$"):
        merge_runs([a, b], tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_target_of_another_version(shard, tmp_path, case, ended):
    """What the targets told of themselves must agree too; the reference's own words are held apart from them."""
    told = {"type": "target", "devices": ["cpu"]}
    records = [[{**told, "environment": {"oneflow": v, "python": v}}, ended(f"t::{v}")] for v in ("1", "2")]
    a, b = shard("a", "t::1", records=records[0]), shard("b", "t::2", records=records[1])
    with pytest.raises(MergeError, match=f"^oneflow='2' in {re.escape(str(b))}, but should be '1' as in"):
        merge_runs([a, b], tmp_path / "m")


def test_test_in_two_shards(shard, tmp_path):
    """One test in two shards is named."""
    a, b = shard("a", "t::a"), shard("b", "t::a")
    sentence = (
        f"test='t::a' ran in {a} and in {b}, but should be in one shard only [merge]; "
        "give every run another --shard I/N of one N, and every DIR once"
    )
    with pytest.raises(MergeError, match=f"^{re.escape(sentence)}$"):
        merge_runs([a, b], tmp_path / "m")


def test_a_file_that_no_shard_could_collect(shard, ended, tmp_path):
    """It is told by each of them, and once of all."""
    shards = [
        shard(name, f"t::{name}", records=[ended(f"t::{name}"), ended("bad.py", outcome="failed")]) for name in "ab"
    ]
    summary = summarize(read_run(merge_runs(shards, tmp_path / "m").folder))
    assert (summary.tests, summary.failed) == (3, ("bad.py",))


def test_one_folder_twice(shard, tmp_path):
    """The very same folder given twice is refused as well."""
    a = shard("a", "t::a")
    with pytest.raises(MergeError, match=r"^test='t::a' ran in"):
        merge_runs([a, a], tmp_path / "m")


@pytest.mark.parametrize(
    ("statuses", "worst"), [((0, 0), 0), ((0, 5), 5), ((5, 1), 1), ((1, 2), 2), ((3, 2), 3), ((0, 137), 2)]
)
def test_worst_status(shard, tmp_path, statuses, worst):
    """The merged run ends as its worst shard did, also where the records alone show nothing."""
    folders = [shard(f"s{i}", f"t::{i}", status) for i, status in enumerate(statuses)]
    assert merged_status(folders, tmp_path / "m") == worst


def test_status_of_the_records(shard, tmp_path, case, row, ended):
    """A divergence counts whatever the shard's status says; a known one does not."""
    for name, level, status in (("new", "wrong", 1), ("known", "known", 0)):
        records = [*case("t::a", verdict="divergent", divergences=[row(test="t::a", level=level)]), ended("t::a")]
        assert merged_status([shard(name, "t::a", records=records)], tmp_path / f"m-{name}") == status


def test_fault_of_the_harness(shard, tmp_path):
    """A fault in any shard is the merged run's."""
    records = [{"type": "fault", "test": None, "message": "broken"}]
    assert merged_status([shard("a", "t::a", records=records), shard("b", "t::b")], tmp_path / "m") == 3


def test_shard_that_never_ended(shard, tmp_path, case):
    """A killed shard is named, and the merged run is as bad as an interrupted one."""
    a, b = shard("a", "t::a"), shard("b", "t::b", None)
    merged = merge_runs([a, b], tmp_path / "m")
    assert merged.unended == (b,)
    assert join_status(merged, summarize(read_run(merged.folder))) == 2


def test_damaged_record(shard, tmp_path):
    """A damaged line is copied and told, not dropped."""
    a = shard("a", "t::a")
    with (a / "records-gw0.jsonl").open("a") as file:
        file.write("x\n")
    merged = merge_runs([a], tmp_path / "m")
    summary = summarize(read_run(merged.folder))
    assert summary.damage == ("records-1-gw0.jsonl:5 is not a record (Expecting value at column 1); it is left out",)
    assert join_status(merged, summary) == 2


def test_no_run_there(tmp_path):
    """A folder that holds no run is named."""
    with pytest.raises(FolderError, match=r"^there is no report folder '.*/nowhere' in "):
        merge_runs([tmp_path / "nowhere"], tmp_path / "m")


def test_unreadable_status(shard, tmp_path):
    """A status that is none is told with its file, before anything is written."""
    a = shard("a", "t::a")
    (a / "exit-status").write_text("fine\n")
    with pytest.raises(RecordError) as caught:
        merge_runs([a], tmp_path / "m")
    assert str(caught.value) == (
        f"{a}/exit-status cannot be read as an exit status: invalid literal for int() with base 10: 'fine\\n'; "
        "run the tests again"
    )
    assert not (tmp_path / "m").exists()


def test_unwritable_report(shard, tmp_path, monkeypatch):
    """A disk that fills up in the middle leaves no half of a run."""

    def full(source, target):
        raise OSError(28, "No space left on device")

    a = shard("a", "t::a")
    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(RecordError) as caught:
        merge_runs([a], tmp_path / "m")
    folder = re.escape(str(tmp_path / "m" / "runs"))
    assert re.fullmatch(
        rf"{folder}/[-\d]+ cannot be written: No space left on device; "
        "free the disk or choose another folder with --report",
        str(caught.value),
    )
    assert list((tmp_path / "m" / "runs").iterdir()) == []


def test_inputs_may_lie_in_the_report(shard, tmp_path):
    """Merging into a report that holds the shards keeps the newest ten runs, and the merged one among them."""
    runs = tmp_path / "m" / "runs"
    runs.mkdir(parents=True)
    for i in range(12):
        shutil.move(shard(f"s{i}", f"t::{i}"), runs / f"202001{i + 1:02}-000000-0-1")
    merged = merge_runs(sorted(runs.iterdir()), tmp_path / "m")
    assert merged.statuses == (0,) * 12
    assert resolve_run(tmp_path / "m") == merged.folder
    assert len(list(runs.iterdir())) == 10
