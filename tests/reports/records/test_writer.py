"""Record files hold whole lines, tell what stops them, and are read in spite of damage."""

from __future__ import annotations

import errno
import json
import os

import pytest

from reports import (
    Damage,
    FolderError,
    PartError,
    PlainError,
    RecordError,
    RecordWriter,
    ReportError,
    VersionError,
    read_run,
)


@pytest.fixture
def writer(tmp_path):
    """Give an open writer with a clock that stands still."""
    with RecordWriter(
        tmp_path / "run",
        "gw0",
        seed=3,
        inputs="edge",
        target="oneflow",
        environment={"torch": "2.14.1"},
        command="pytest",
        clock=lambda: 5.0,
    ) as opened:
        yield opened


def lines_of(writer):
    """Return the decoded lines of a writer's file."""
    return [json.loads(line) for line in writer.path.read_text().splitlines()]


def test_first_line_describes_the_run(writer):
    """The first line of each file is the versioned run record."""
    assert lines_of(writer) == [
        {
            "time": 5.0,
            "type": "run",
            "version": 2,
            "worker": "gw0",
            "seed": 3,
            "inputs": "edge",
            "target": "oneflow",
            "environment": {"torch": "2.14.1"},
            "command": "pytest",
            "commit": None,
            "path": None,
            "selection": None,
        }
    ]


def test_each_record_is_on_disk_before_close(writer):
    """A record can be read as soon as it was written, without closing the file."""
    writer.target({"oneflow": "0.9.0"}, ("cpu",))
    writer.surface(("relu", "add"), ("relu",), ("relu",))
    writer.start("t.py::a", "t.py::a#0", 0)
    writer.end("t.py::a", "t.py::a#0", "aligned", ops=["relu"], dtypes=("float32",), seconds=0.25)
    writer.test("t.py::a", 0.5, "passed", 3)
    writer.fault(None, "the worker did not answer")
    assert lines_of(writer)[1:] == [
        {"time": 5.0, "type": "target", "environment": {"oneflow": "0.9.0"}, "devices": ["cpu"]},
        {"time": 5.0, "type": "surface", "registry": ["relu", "add"], "touched": ["relu"], "names": ["relu"]},
        {"time": 5.0, "type": "start", "test": "t.py::a", "key": "t.py::a#0", "index": 0},
        {
            "time": 5.0,
            "type": "end",
            "key": "t.py::a#0",
            "test": "t.py::a",
            "verdict": "aligned",
            "reason": None,
            "ops": ["relu"],
            "dtypes": ["float32"],
            "graph": None,
            "seconds": 0.25,
            "divergences": [],
        },
        {"time": 5.0, "type": "test", "test": "t.py::a", "seconds": 0.5, "outcome": "passed", "line": 3},
        {"time": 5.0, "type": "fault", "test": None, "message": "the worker did not answer"},
    ]


def test_run_of_a_commit(tmp_path):
    """The commit and the path that a run is of, and what chose its tests, stand in its first line."""
    facts = {"commit": "0123", "path": "/w", "selection": "suites"}
    with RecordWriter(tmp_path, "m", seed=0, target="t", environment={}, command="c", **facts) as opened:
        [line] = lines_of(opened)
    assert {name: line[name] for name in facts} == facts


def test_what_is_written_is_read(writer):
    """Every kind of record which the writer makes is a record to the reader."""
    writer.target({"oneflow": "0.9.0"}, [])
    writer.surface([], [], [])
    writer.start("t.py::a", "t.py::a#0", 0)
    writer.end("t.py::a", "t.py::a#0", "skipped", reason="no kernel", seconds=0.25)
    writer.test("t.py::a", 0.5, "skipped")
    writer.stopped("t.py::a", "no target")
    writer.fault("t.py::a", "x")
    read = [line for _, line in read_run(writer.path.parent).lines()]
    assert read == lines_of(writer)


def test_full_disk_is_told_with_the_knob(writer, monkeypatch):
    """A failing write raises one sentence: the file, the system's reason, the knob."""

    def full(descriptor, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(RecordError) as caught:
        writer.fault(None, "x")
    assert str(caught.value) == (
        f"{writer.path} cannot be written: No space left on device; "
        "free the disk or choose another folder with --report"
    )
    assert caught.value.errno == errno.ENOSPC
    assert isinstance(caught.value, ReportError)


def test_line_after_a_torn_one_stands_alone(writer, monkeypatch):
    """A line cut by a full disk damages only itself: the next record is read."""
    write = os.write
    answers = iter([10, None])

    def tear(descriptor, data):
        if next(answers) is None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, data[:10])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", tear)
        with pytest.raises(RecordError):
            writer.fault(None, "lost")
    writer.fault(None, "kept")
    read = [line for _, line in read_run(writer.path.parent).lines()]
    assert [type(line) for line in read] == [dict, Damage, dict]
    assert read[2]["message"] == "kept"


def test_short_writes_are_continued(writer, monkeypatch):
    """A system which takes a few bytes at a time still gets the whole line."""
    write = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:7]))
        writer.fault(None, "long enough to be cut")
    assert lines_of(writer)[1]["message"] == "long enough to be cut"


def test_folder_that_cannot_be_made(tmp_path):
    """A report folder below a file is refused with the system's reason."""
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError) as caught:
        RecordWriter(tmp_path / "file" / "run", "main", seed=0, target="t", environment={}, command="c")
    assert str(caught.value) == (
        f"{tmp_path}/file/run/records-main.jsonl cannot be written: Not a directory; "
        "choose another folder with --report"
    )


def test_worker_is_part_of_a_file_name(tmp_path):
    """A worker name with a slash would leave the folder."""
    with pytest.raises(PartError) as caught:
        RecordWriter(tmp_path, "../x", seed=0, target="t", environment={}, command="c")
    assert str(caught.value) == "worker='../x', but should be letters, digits, - and _ [RecordWriter]"


def test_closed_writer(writer):
    """A record after close is refused, and closing twice is allowed."""
    writer.close()
    writer.close()
    with pytest.raises(RecordError) as caught:
        writer.fault(None, "x")
    assert str(caught.value) == f"{writer.path} is closed; a record needs an open RecordWriter"


def test_record_that_is_not_plain(writer):
    """A float which is not finite never reaches the file."""
    with pytest.raises(PlainError) as caught:
        writer.test("t.py::a", float("nan"), "passed")
    assert str(caught.value) == (
        "value['seconds']=nan, but should be plain data: None, bool, int, finite float, str, list or dict "
        "with str keys [records-gw0.jsonl]"
    )
    assert len(lines_of(writer)) == 1


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (
            b'{"type":"end","ke',
            "records-main.jsonl:2 is not a record (the line was cut short); it is left out",
        ),
        (b"\n", "records-main.jsonl:2 is not a record (Expecting value at column 1); it is left out"),
        (b'"\xff"\n', "records-main.jsonl:2 is not a record (byte 2 is not UTF-8); it is left out"),
        (
            b"17\n",
            "records-main.jsonl:2 is not a record (record=17, but should be an object); it is left out",
        ),
        (
            b'{"type":"test","test":"a","seconds":NaN,"outcome":"passed"}\n',
            "records-main.jsonl:2 is not a record (NaN is not a JSON number); it is left out",
        ),
    ],
)
def test_damaged_line_is_named(lay, header, raw, sentence):
    """A damaged line is named with its file, number and reason, and its neighbours are read."""
    tail = {"type": "fault", "test": None, "message": "m"}
    records = [header(), raw, tail] if raw.endswith(b"\n") else [header(), raw]
    read = [line for _, line in read_run(lay(*records)).lines()]
    assert str(read[1]) == sentence
    assert read[2:] == [tail][: len(records) - 2]


def test_deep_nesting_is_damage(lay, header):
    """A line nested too deeply to decode is damage and no crash."""
    read = [line for _, line in read_run(lay(header(), b"[" * 100_000 + b"\n")).lines()]
    assert isinstance(read[1], Damage)


def test_other_version(lay, header):
    """A file of another version is refused when the run is opened, whatever its other fields."""
    folder = lay({"type": "run", "version": 1})
    with pytest.raises(VersionError) as caught:
        read_run(folder)
    assert str(caught.value) == (
        f"version=1, but should be 2 [{folder}/records-main.jsonl]; "
        "read it with the op-autotest that wrote it, or run the tests again"
    )


def test_missing_folder(tmp_path):
    """A folder which does not exist is named."""
    with pytest.raises(FolderError) as caught:
        read_run(tmp_path / "no")
    assert str(caught.value) == f"folder='{tmp_path}/no', but should be an existing run folder"


def test_empty_folder(tmp_path):
    """A folder without records is named, with where records come from."""
    with pytest.raises(FolderError) as caught:
        read_run(tmp_path)
    assert str(caught.value) == (
        f"folder='{tmp_path}', but should be a run folder holding records-*.jsonl; "
        "a run writes them under runs/ of the folder given with --report"
    )


def test_unreadable_file(tmp_path):
    """A record file which cannot be opened is named with the system's reason."""
    (tmp_path / "records-main.jsonl").mkdir()
    with pytest.raises(RecordError) as caught:
        read_run(tmp_path)
    assert str(caught.value) == (f"{tmp_path}/records-main.jsonl cannot be read: Is a directory; check its permissions")


def test_workers_in_natural_order(lay, header):
    """The file of gw10 comes after that of gw2."""
    for worker in ("gw10", "gw2", "gw0"):
        folder = lay(header(), worker=worker)
    names = [path.name for path in read_run(folder).files]
    assert names == ["records-gw0.jsonl", "records-gw2.jsonl", "records-gw10.jsonl"]
