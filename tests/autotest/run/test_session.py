"""A session makes things at first use, keeps records where asked, and leaves nothing open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autotest import DivergenceError, autotest, dual, random_tensor, torch
from autotest.options import RunOptions
from autotest.run.session import Session, current_session, running_session
from dual_object.program.program import Program
from reports import read_run, summarize


def test_session_outside_pytest_keeps_no_records(session: Session) -> None:
    """A session without a folder writes nothing and keeps no Programs."""
    assert session.writer is None
    assert session.store is None
    assert running_session() is session


def test_new_session_starts_nothing(tmp_path: Path) -> None:
    """Making and closing a session spawns no worker and creates no file."""
    fresh = Session(RunOptions(target="torch", coverage="none", folder=tmp_path / "run"))
    fresh.close()
    assert fresh.supervisor.spawned == 0
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def recorded(torch_session: Session, tmp_path: Path) -> Any:
    """A session that keeps records in a folder, on the warm worker."""
    made = Session(
        RunOptions(target="torch", coverage="none", folder=tmp_path / "run", worker="gw3", command="here", seed=5)
    )
    made.supervisor = torch_session.supervisor
    made.nodeid = "dir/test_a.py::test_b"
    token = current_session.set(made)
    yield made
    current_session.reset(token)
    if made.writer is not None:
        made.writer.close()


def test_records_tell_the_whole_story(recorded: Session, tmp_path: Path) -> None:
    """Run, target, start and end of each case stand in the worker's file, in the order in which they happened."""
    autotest(n=2)(lambda: torch.square(random_tensor(ndim=1)))()
    recorded.record_test("dir/test_a.py::test_b", 0.5, "passed", 7)
    records: list[Any] = [line for _, line in read_run(tmp_path / "run").lines()]
    assert [record["type"] for record in records] == [
        *("run", "start", "start", "target", "end", "end", "reached", "inferred", "test")
    ]
    assert records[0]["seed"] == 5
    assert [r["key"] for r in records if r["type"] == "start"] == ["test_a.py::test_b#0", "test_a.py::test_b#1"]
    end = records[4]
    assert (end["test"], end["key"], end["verdict"]) == ("dir/test_a.py::test_b", "test_a.py::test_b#0", "aligned")
    assert end["ops"] == ["square"]
    assert end["graph"] == {"forward": "verified", "backward": "verified", "again": "verified"}
    assert summarize(read_run(tmp_path / "run")).aligned == 2


def test_records_tell_which_phases_a_case_has(recorded: Session, tmp_path: Path) -> None:
    """Buffers that a graph was compared by are told, and gradients that there are none of, graph check or not."""
    autotest(n=1)(lambda: torch.nn.BatchNorm1d(2)(random_tensor(ndim=2, dim1=2)))()
    recorded.nodeid = "dir/test_a.py::test_c"
    autotest(n=1, check_graph=False)(lambda: torch.argmax(random_tensor(ndim=1)))()
    records: list[Any] = [line for _, line in read_run(tmp_path / "run").lines()]
    assert [record["graph"] for record in records if record["type"] == "end"] == [
        {"forward": "verified", "backward": "verified", "state": "verified", "again": "verified"},
        {"forward": "off", "backward": "nothing to differentiate"},
    ]
    cells = summarize(read_run(tmp_path / "run")).matrix.cells
    assert list(cells["argmax"]) == ["eager_forward", "graph_forward"]
    assert cells["BatchNorm1d"]["graph_state"].aligned == 1


def three(x: Any) -> Any:
    """Three times."""
    return x * 3


def four(x: Any) -> Any:
    """Four times."""
    return x * 4


def test_divergent_programs_are_kept_and_can_be_loaded(recorded: Session, tmp_path: Path) -> None:
    """Of a fingerprint three Programs are kept, and the one that they shrink to; each loads as it was recorded."""
    wrong = dual(reference=three, target=four, name="wrong")
    with pytest.raises(DivergenceError):
        autotest(n=5, check_graph=False, auto_backward=False)(lambda: wrong(random_tensor(ndim=1)))()
    kept = sorted((tmp_path / "run" / "programs").glob("*.json"))
    assert [path.stem.split("-", 1)[1] for path in kept] == ["gw3-1", "gw3-2", "gw3-3", "gw3-shrunk"]
    for path in kept:
        program, _ = Program.load(path)
        assert program.ops() == ["wrong"]
    [row] = summarize(read_run(tmp_path / "run")).divergences
    assert (row.count, row.op, row.kind) == (5, "wrong", "value")
