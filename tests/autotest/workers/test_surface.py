"""What the target has and what ran of it: asked for once, at the end, and never at the price of the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from autotest import autotest, random_tensor, torch
from autotest.options import RunOptions
from autotest.run.session import Session, current_session
from autotest.workers import supervisor as workers
from autotest.workers.inline import load_inline
from autotest.workers.supervisor import Supervisor
from dual_object.replay.adapter import Surface
from reports import RecordError, RecordWriter, read_run
from support.forks import answering
from support.programs import one_call
from support.runs import SUPPORT

PATHS = ["relu", "Tensor.add_", "pi", "no_such_op"]
REGISTRY = ("idle_type", "neg_type", "square_type")
NAMES = ("add_", "relu")


@pytest.fixture
def spawn(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Supervisor]]:
    """Give a function that makes a supervisor of a target which tells what ran."""
    monkeypatch.setenv("AUTOTEST_FAULT", "faults:telling")
    monkeypatch.syspath_prepend(SUPPORT)
    made: list[Supervisor] = []

    def make(fault: str | None = None) -> Supervisor:
        if fault is not None:
            monkeypatch.setenv("AUTOTEST_SURFACE", fault)
        made.append(Supervisor("torch", None))
        return made[-1]

    yield make
    for supervisor in made:
        supervisor.close()


def test_worker_tells_its_surface(spawn: Callable[..., Supervisor]) -> None:
    """Registry, op types that ran and ops of both sides come sorted; what cannot be called is no op."""
    supervisor = spawn()
    supervisor.eager([one_call("square"), one_call("cos")])
    assert supervisor.surface(PATHS) == Surface(REGISTRY, ("square_type",), NAMES)
    supervisor.graph([one_call("neg")], None)
    assert supervisor.surface(PATHS) == Surface(REGISTRY, ("neg_type", "square_type"), NAMES)
    assert supervisor.spawned == 1


def test_recycled_workers_are_remembered(spawn: Callable[..., Supervisor]) -> None:
    """What ran in a worker that was replaced in mid-run stays told, and the new one adds its own."""
    supervisor = spawn()
    supervisor.eager([one_call("square")])
    assert supervisor._worker is not None
    supervisor._worker.graphs = workers.MAX_GRAPHS
    supervisor.eager([one_call("neg")])
    assert supervisor.spawned == 2
    assert supervisor._worker.touched == {"neg_type"}
    assert supervisor.surface(PATHS) == Surface(REGISTRY, ("neg_type", "square_type"), NAMES)


def test_dead_worker_is_not_replaced(spawn: Callable[..., Supervisor]) -> None:
    """A worker that died since its last answer leaves what ran; none is started to ask for the rest."""
    supervisor = spawn()
    supervisor.eager([one_call("square")])
    victim = answering(supervisor)
    victim.kill()
    victim.wait()
    for _ in range(2):  # dead and not known to be, then known
        assert supervisor.surface(PATHS) == Surface((), ("square_type",), ())
        assert supervisor._worker is None
    assert supervisor.spawned == 1


@pytest.mark.parametrize("fault", ["hang", "die"])
def test_worker_that_cannot_answer(
    fault: str, spawn: Callable[..., Supervisor], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that hangs or dies at the question is ended, and what ran is told."""
    monkeypatch.setattr(workers, "SURFACE_TIMEOUT", 1.0)
    supervisor = spawn(fault)
    supervisor.eager([one_call("square")])
    assert supervisor.surface(PATHS) == Surface((), ("square_type",), ())
    assert supervisor._worker is None


def test_worker_that_was_left_in_mid_request_is_not_asked(spawn: Callable[..., Supervisor]) -> None:
    """After an interrupt the pipe holds the answers to another question: nobody waits for them."""
    supervisor = spawn()
    supervisor.eager([one_call("square")])
    unfinished = supervisor._eager([one_call("neg")], False)
    next(unfinished)
    assert supervisor.surface(PATHS) == Surface((), ("square_type",), ())
    assert supervisor._worker is not None
    list(unfinished)
    assert supervisor.surface(PATHS) == Surface(REGISTRY, ("neg_type", "square_type"), NAMES)


def test_unused_target_has_no_surface() -> None:
    """Nothing is told, started or waited for where no worker has answered yet."""
    supervisor = Supervisor("torch", None)
    assert supervisor.surface(PATHS) is None
    assert supervisor.spawned == 0
    supervisor.start()
    assert supervisor.surface(PATHS) is None
    supervisor.close()


def test_inline_target_tells_its_surface() -> None:
    """A target in this process tells the same; PyTorch has no registry."""
    assert load_inline("torch").surface(PATHS) == Surface((), (), NAMES)


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Session]:
    """A session with records, on a target which tells what ran."""
    monkeypatch.setenv("AUTOTEST_FAULT", "faults:telling")
    monkeypatch.syspath_prepend(SUPPORT)
    made = Session(RunOptions(target="torch", folder=tmp_path / "run", worker="main", command="", case_timeout=60.0))
    made.nodeid = "test_a.py::test_b"
    token = current_session.set(made)
    yield made
    current_session.reset(token)
    made.close()


def closing_records(session: Session, tmp_path: Path) -> list[dict[str, Any]]:
    """The records that closing a session leaves after those of its tests."""
    session.close()
    lines: list[Any] = [line for _, line in read_run(tmp_path / "run").lines()]
    return [line for line in lines if line["type"] in ("surface", "fault")]


def test_session_records_the_surface(session: Session, tmp_path: Path) -> None:
    """Closing a session that used its target writes one surface, with the ops of PyTorch that the target has."""
    autotest(n=2, check_graph=False)(lambda: torch.square(random_tensor(ndim=1)))()
    [record] = closing_records(session, tmp_path)
    assert (record["registry"], record["touched"]) == ([*REGISTRY], ["square_type"])
    assert {"square", "matmul", "Linear", "add_"} <= {*record["names"]}


def test_session_records_what_ran_inline(session: Session, tmp_path: Path) -> None:
    """The target in this process writes a surface of its own."""
    assert session.writer is not None
    assert session.inline.surface([]).names == ()
    [record] = closing_records(session, tmp_path)
    assert (record["registry"], record["touched"]) == ([*REGISTRY], [])
    assert "matmul" in record["names"]


def test_session_that_used_no_target_records_nothing(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records without a target, of skipped tests for instance, end without a surface, which nobody computes."""
    monkeypatch.delattr("dual_object.adapters.torch.surface.op_paths")
    assert session.writer is not None
    assert closing_records(session, tmp_path) == []


def test_fault_at_the_question_is_recorded(session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that fails in code of its own when it is asked is a fault of the harness, and the session closes."""
    monkeypatch.setenv("AUTOTEST_SURFACE", "fail")
    autotest(n=1, check_graph=False)(lambda: torch.square(random_tensor(ndim=1)))()
    [record] = closing_records(session, tmp_path)
    assert (record["type"], record["test"]) == ("fault", None)
    first, *_, last = record["message"].splitlines()
    assert first == "the target worker failed in code of its own:"
    assert last == "ZeroDivisionError: integer division or modulo by zero"


def test_full_disk_does_not_keep_a_session_open(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """A surface that cannot be written costs nothing else: worker and records are closed, and may be closed again."""

    def full(*_: Any) -> None:
        raise RecordError("full")

    monkeypatch.setattr(RecordWriter, "surface", full)
    writer = session.writer
    assert writer is not None
    assert session.inline.surface([]).names == ()
    session.close()
    session.close()
    with pytest.raises(RecordError, match="is closed"):
        writer.write({})
