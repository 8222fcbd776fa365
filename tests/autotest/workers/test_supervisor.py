"""The supervisor: warm workers, deadlines, last words, and replacement by count, size and poison."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from autotest.errors import EnvironmentFault, HarnessFault
from autotest.run.session import Session
from autotest.workers import supervisor as workers
from autotest.workers.protocol import Death, GraphFailure
from autotest.workers.supervisor import Supervisor
from autotest.workers.worker import Worker
from dual_object.program.program import Program
from dual_object.replay.observation import Observation
from support.forks import answering
from support.programs import one_call
from support.runs import SUPPORT


def program(op: str = "square", size: int = 2) -> Program:
    """A Program of one op on one input."""
    return one_call(op, np.ones(size))


@pytest.fixture
def warm(torch_session: Session) -> Supervisor:
    """The supervisor whose worker the other tests share."""
    torch_session.supervisor.info()
    return torch_session.supervisor


@pytest.fixture
def deadly(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Iterator[Supervisor]:
    """A supervisor of a target with deadly ops."""
    monkeypatch.setenv("AUTOTEST_FAULT", "faults:deadly")
    monkeypatch.setenv("AUTOTEST_ONCE", str(tmp_path))
    monkeypatch.syspath_prepend(SUPPORT)
    supervisor = Supervisor("torch", 60.0)
    yield supervisor
    supervisor.close()


def process(supervisor: Supervisor) -> psutil.Process:
    """The worker's process."""
    assert supervisor._worker is not None
    return psutil.Process(supervisor._worker._process.pid)


def test_worker_tells_what_the_target_is(warm: Supervisor) -> None:
    """The handshake gives the target's name, versions, devices and dtypes."""
    info = warm.info()
    assert info.name == "torch"
    assert set(info.environment) == {"torch", "python"}
    assert "cpu" in info.devices
    assert {"float32", "bool"} <= set(info.dtypes)


def test_worker_stays_warm(warm: Supervisor) -> None:
    """Requests share one process."""
    before = process(warm).pid
    for _ in range(3):
        [seen] = warm.eager([program()])
        assert isinstance(seen, Observation)
        assert seen.outputs[1].data.tolist() == [1.0, 1.0]
    assert process(warm).pid == before


def test_no_programs_no_answers(warm: Supervisor) -> None:
    """Nothing asked, nothing answered."""
    assert list(warm.eager([])) == []


def test_large_arrays_pass_both_ways(warm: Supervisor) -> None:
    """More data than a pipe holds travels both ways without a deadlock."""
    drawn = [program(size=1 << 20) for _ in range(4)]
    for seen in warm.eager(drawn):
        assert isinstance(seen, Observation)
        assert seen.outputs[1].shape == (1 << 20,)


def test_deadline_of_none_waits(warm: Supervisor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a deadline, as under a debugger, requests are answered as before."""
    monkeypatch.setattr(warm, "timeout", None)
    [seen] = warm.eager([program()])
    assert isinstance(seen, Observation)


@pytest.mark.parametrize("together", [False, True])
def test_a_lost_device_is_a_death(deadly: Supervisor, together: bool) -> None:
    """What fails on a GPU is told of when one waits for it, and every later call fails, too: a new process goes on."""
    programs = [program(size=2), program("tanh"), program(size=3)]
    answers = deadly.submit(programs, together=together).result()
    assert [type(answer) for answer in answers] == [Observation, Death, Observation]
    assert isinstance(answers[1], Death)
    assert (answers[1].cause, answers[1].how) == ("crash", "killed by SIGABRT")
    assert "RuntimeError: planted error: device-side assert triggered" in answers[1].last_words


@pytest.mark.parametrize("together", [False, True])
def test_overwritten_memory_is_a_death(deadly: Supervisor, together: bool) -> None:
    """Where the target wrote beyond a tensor, any code may fail for want of memory, the worker's own as well."""
    answers = deadly.submit([program(size=2), program("atan"), program(size=3)], together=together).result()
    assert [type(answer) for answer in answers] == [Observation, Death, Observation]
    assert isinstance(answers[1], Death)
    assert (answers[1].cause, answers[1].how) == ("crash", "killed by SIGABRT")
    assert "MemoryError: planted error: a size that was overwritten" in answers[1].last_words


def test_death_costs_its_own_case(deadly: Supervisor) -> None:
    """The case that kills the worker gets the death, at its call; the others are answered by the next worker."""
    first, dead, last = deadly.eager([program(size=2), program("cos"), program(size=3)])
    assert isinstance(first, Observation)
    assert isinstance(last, Observation)
    assert isinstance(dead, Death)
    assert (dead.cause, dead.how, dead.call) == ("crash", "killed by SIGSEGV", 0)
    assert last.outputs[1].shape == (3,)
    spawned = deadly.spawned
    deadly.info()
    deadly.timeout = 1.0
    [hung] = deadly.eager([program("tan")])
    assert isinstance(hung, Death)
    assert (hung.cause, hung.how, hung.call) == ("timeout", "did not answer within 1 s and was killed", 0)
    assert deadly.spawned == spawned
    assert deadly._worker is None


def test_compiled_graphs_have_a_deadline_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a target compiles one program after the other, a graph of three may take three deadlines; one may not."""
    monkeypatch.setenv("AUTOTEST_FAULT", "support.executor_faults:slow")
    supervisor = Supervisor("torch:fx", 60.0)
    supervisor.graph([program()], None)  # imports what is slow at first
    supervisor.timeout = 1.0
    answer = supervisor.graph([program(), program(), program()], None)
    assert isinstance(answer, list), answer
    assert all(isinstance(seen, Observation) for seen in answer)
    supervisor.timeout = 0.3
    hung = supervisor.graph([program()], None)
    assert isinstance(hung, Death), hung
    assert hung.how == "did not answer within 0.3 s and was killed"


def test_worker_is_recycled() -> None:
    """A worker with so many graphs or bytes is replaced before its next request, and its process is gone."""
    supervisor = Supervisor("torch", 60.0)
    supervisor.info()
    for limits in ((workers.MAX_GRAPHS, 0), (0, workers.MAX_RSS)):
        old, spawned = process(supervisor), supervisor.spawned
        assert supervisor._worker is not None
        supervisor._worker.graphs, supervisor._worker.rss = limits
        [seen] = supervisor.eager([program()])
        assert isinstance(seen, Observation)
        assert supervisor.spawned == spawned + 1
        assert not old.is_running()
    worker = supervisor._worker
    assert worker.rss > 0
    assert not worker.grown
    held = worker._imported
    worker._memory.limit = held + (100 << 20)  # what a target never gives back comes of all cases
    worker.rss = held + (50 << 20)
    assert worker.grown
    spawned = supervisor.spawned
    supervisor.eager([program()])
    assert supervisor.spawned == spawned + 1
    supervisor.close()


def test_graphs_are_counted(warm: Supervisor) -> None:
    """Every graph request counts as one compilation, and a graph that runs gives one observation per Program."""
    assert warm._worker is not None
    [*warm.eager([program()])]
    before = warm._worker.graphs
    answer = warm.graph([program(), program("neg")], None)
    assert isinstance(answer, list)
    assert [type(seen) for seen in answer] == [Observation, Observation]
    assert warm._worker.graphs == before + 1


def test_poisoned_worker_retires(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a poisoned graph the worker is closed at once; the failure is told with its class and words."""
    monkeypatch.setenv("AUTOTEST_FAULT", "faults:wrong")
    monkeypatch.syspath_prepend(SUPPORT)
    supervisor = Supervisor("torch", 60.0)
    supervisor.info()
    old = process(supervisor)
    answer = supervisor.graph([program("log10")], None)
    assert answer == GraphFailure(("RuntimeError",), "building plan got error")
    assert not old.is_running()
    assert supervisor._worker is None
    supervisor.close()


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (
            "nowhere.at.all:Adapter",
            "target 'nowhere.at.all:Adapter' cannot be imported: ModuleNotFoundError: No module named 'nowhere'"
            "; put the folder that holds nowhere on the import path, as PYTHONPATH=. does for this one",
        ),
        (
            "json:Adapter",
            "target 'json:Adapter' cannot be imported: AttributeError: module 'json' has no attribute 'Adapter', "
            "but should be package.module:Class [--target]",
        ),
        (
            "json:dumps",
            "target='json:dumps' wants arguments, but an adapter's class should take none [--target]",
        ),
        (
            "nosuch",
            "target='nosuch', but should be one of jax, oneflow, paddle, torch, torch:EXECUTOR, "
            "or package.module:Class [--target]",
        ),
    ],
)
def test_target_that_cannot_be_loaded(target: str, message: str) -> None:
    """A target that is not there is one sentence, and leaves no process."""
    supervisor = Supervisor(target, 60.0)
    with pytest.raises(EnvironmentFault) as caught:
        supervisor.info()
    assert str(caught.value) == message
    assert supervisor._worker is None


@pytest.mark.usefixtures("real_interpreter")
def test_target_that_needs_more_memory_to_be_imported() -> None:
    """A limit below what the target takes to be imported is one sentence, after one try."""
    supervisor = Supervisor("torch", 60.0, memory=100 << 20)
    with pytest.raises(EnvironmentFault) as caught:
        supervisor.info()
    assert str(caught.value) == (
        "memory_limit=100 MiB, but should be more than what target 'torch' takes to be imported [--memory-limit]"
    )
    assert (supervisor._worker, supervisor.spawned) == (None, 1)


def test_target_that_dies_at_import(monkeypatch: pytest.MonkeyPatch) -> None:
    """A target that dies at import is one sentence with its status and last words."""
    monkeypatch.setenv("AUTOTEST_FAULT", "faults:dead_at_import")
    monkeypatch.syspath_prepend(SUPPORT)
    with pytest.raises(EnvironmentFault) as caught:
        Supervisor("torch", 60.0).info()
    assert str(caught.value) == (
        "target 'torch' died at import: exited with status 7; its last words: undefined symbol: planted"
    )


def test_exit_at_import_is_no_accident(monkeypatch: pytest.MonkeyPatch) -> None:
    """A target that ends by itself at import is not started again."""
    monkeypatch.setenv("AUTOTEST_FAULT", "faults:dead_at_import")
    monkeypatch.syspath_prepend(SUPPORT)
    supervisor = Supervisor("torch", 60.0)
    with pytest.raises(EnvironmentFault):
        supervisor.info()
    assert supervisor.spawned == 1


@pytest.mark.parametrize("warm", [False, True])
def test_target_that_is_killed_at_import(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, warm: bool) -> None:
    """A worker that is killed while it starts is replaced, be it the first or the one after a death; but only once."""
    kills = tmp_path / "kills"
    kills.write_text("")
    monkeypatch.setenv("AUTOTEST_FAULT", "faults:killed_at_import")
    monkeypatch.setenv("AUTOTEST_KILLS", str(kills))
    monkeypatch.syspath_prepend(SUPPORT)
    supervisor = Supervisor("torch", 60.0)
    try:
        if warm:
            supervisor.info()
            answering(supervisor).send_signal(signal.SIGABRT)
            [seen] = supervisor.eager([program()])
            assert isinstance(seen, Death)
        before = supervisor.spawned
        kills.write_text("once")
        [seen] = supervisor.eager([program()])
        assert isinstance(seen, Observation)
        assert supervisor.spawned == before + 2
        supervisor.close()
        kills.write_text("once\ntwice")
        with pytest.raises(EnvironmentFault) as caught:
            supervisor.eager([program()])
        assert str(caught.value) == "target 'torch' died at import: killed by SIGKILL; its last words: none"
        assert supervisor.spawned == before + 4
    finally:
        supervisor.close()


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ([], ""),
        (["", "  plain  "], "plain"),
        (["F20240101 1 op.cpp:3] Check failed: a == b", "*** stack ***", "    @ 0x1 f()"], None),
        (["ValueError: first", "noise"], "ValueError: first"),
        (["Fatal Python error: Aborted", "Extension modules: numpy"], "Fatal Python error: Aborted"),
        (["\x1b[31mCheck failed: red\x1b[m", "later"], "Check failed: red"),
        (["libibverbs: Warning", "real"], "real"),
        (["real", "/lib/rnn.py:12: UserWarning: not contiguous", "  warnings.warn("], "real"),
        (["x" * 900], "x" * 400),
    ],
)
def test_last_words(warm: Supervisor, monkeypatch: pytest.MonkeyPatch, said: list[str], words: str | None) -> None:
    """Last words are glog's `Check failed` line, else an exception, else the last line that is no stack trace."""
    worker = warm._worker
    assert isinstance(worker, Worker)
    monkeypatch.setattr(worker, "_stderr", [line.encode() + b"\n" for line in said])
    assert worker.last_words() == (said[0] if words is None else words)


def test_death_in_one_sentence() -> None:
    """A death is how it ended and, where there are any, the last words."""
    assert Death("crash", "killed by SIGABRT", 0, None, "").sentence() == "killed by SIGABRT"
    assert Death("crash", "killed by SIGABRT", 0, None, "Check failed").sentence() == "killed by SIGABRT: Check failed"
    starved = Death("out_of_memory", "held 1.1 GiB of memory, more than its limit of 1 GiB, and was killed", 0, 0, "x")
    assert starved.sentence() == (
        "held 1.1 GiB of memory, more than its limit of 1 GiB, and was killed [--memory-limit]"
    )


@pytest.mark.usefixtures("real_interpreter")
def test_close_leaves_nothing(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file has a name while a worker runs; a closed supervisor has no process, and may be closed again."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    supervisor = Supervisor("torch", 60.0)
    supervisor.info()
    old = process(supervisor)
    assert list(tmp_path.iterdir()) == []
    supervisor.close()
    supervisor.close()
    assert not old.is_running()


@pytest.mark.usefixtures("real_interpreter")
def test_close_ends_what_the_target_has_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler that a target has started does not go on without it."""
    monkeypatch.setenv("AUTOTEST_FAULT", "faults:with_a_child")
    monkeypatch.setenv("AUTOTEST_CHILD", str(tmp_path / "child"))
    monkeypatch.syspath_prepend(SUPPORT)
    supervisor = Supervisor("torch", 60.0)
    supervisor.info()
    child = psutil.Process(int((tmp_path / "child").read_text()))
    assert child.is_running()
    supervisor.close()
    child.wait(timeout=5)
    assert not child.is_running()


def test_fault_of_the_worker_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error in the worker's own code is a fault of the harness with its traceback, no crash of the target."""
    monkeypatch.setenv("AUTOTEST_FAULT", "faults:broken_adapter")
    monkeypatch.syspath_prepend(SUPPORT)
    supervisor = Supervisor("torch", 60.0)
    try:
        with pytest.raises(HarnessFault) as caught:
            supervisor.eager([program()])
        first, *_, last = str(caught.value).splitlines()
        assert first == "the target worker failed in code of its own:"
        assert last == "ZeroDivisionError: planted"
        monkeypatch.delenv("AUTOTEST_FAULT")
        [seen] = supervisor.eager([program()])
        assert isinstance(seen, Observation)
    finally:
        supervisor.close()
