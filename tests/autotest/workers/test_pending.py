"""What is submitted to a worker: nothing is lost, nothing is blamed on another, and requests do not mix."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autotest.errors import HarnessFault
from autotest.run.session import Session
from autotest.workers import supervisor as workers
from autotest.workers.pending import Pending
from autotest.workers.protocol import Death
from autotest.workers.supervisor import Supervisor
from autotest.workers.worker import Gone
from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.values import Ref
from dual_object.replay.observation import Observation

FAULTS = Path(__file__).parents[2] / "support"
DEATH = Death("crash", "killed by SIGABRT", 1, 0, "")
KILLED = Death("crash", "killed by SIGKILL", 1, 0, "", killed=True)
HANG = Death("timeout", "did not answer within 1 s and was killed", 1, 0, "")


def program(op: str = "square", size: int = 2) -> Program:
    """A Program of one op on one input."""
    x = Input(0, "", np.ones(size, np.float32), "float32")
    return Program([x], [Call("function", op, (Ref(0),), {}, out=Ref(1))], Ref(1))


class FakeWorker:
    """Answers each Program by an observation, and dies as it is told."""

    def __init__(self, dies: Callable[[list[str], bool], bool], death: Death = DEATH) -> None:
        self.asked: list[tuple[list[str], bool]] = []
        self._dies = dies
        self._death = death

    def ask(self, programs: Sequence[Program], together: bool) -> Iterator[list[Observation]]:
        """Note the request; it is answered when somebody reads."""
        self.asked.append(([name for one in programs for name in one.ops()], together))
        return self._answer(self.asked[-1][0], together)

    def _answer(self, names: list[str], together: bool) -> Iterator[list[Observation]]:
        if together:
            if self._dies(names, together):
                raise Gone(self._death.cause == "timeout")
            yield [Observation() for _ in names]
            return
        for name in names:
            if self._dies([name], together):
                raise Gone(self._death.cause == "timeout")
            yield [Observation()]

    def bury(self, gone: Gone) -> Death:
        """How it ended."""
        return self._death

    def result(self, *ops: str) -> list[Observation | Death]:
        """Submit Programs of these ops, and wait."""
        pending = Pending([program(op) for op in ops], self.ask, self.bury, lambda: False)
        pending.send()
        return pending.result()


def kinds(results: Sequence[Observation | Death]) -> list[str]:
    """The classes of results."""
    return [type(result).__name__ for result in results]


def test_programs_are_asked_for_once_and_together() -> None:
    """What nobody dies of is one request, however often its result is asked for."""
    worker = FakeWorker(lambda names, together: False)
    pending = Pending([program("neg"), program("abs")], worker.ask, worker.bury, lambda: False)
    pending.send()
    assert pending.outstanding
    assert not pending.ready
    assert kinds(pending.result()) == kinds(pending.result()) == ["Observation"] * 2
    assert not pending.outstanding
    assert pending.ready
    assert worker.asked == [(["neg", "abs"], True)]


def test_death_is_blamed_on_its_own_case() -> None:
    """All run again one by one; what follows the death is asked for once more."""
    worker = FakeWorker(lambda names, together: "cos" in names)
    assert kinds(worker.result("neg", "cos", "abs")) == ["Observation", "Death", "Observation"]
    assert worker.asked == [(["neg", "cos", "abs"], True), (["neg", "cos", "abs"], False), (["abs"], False)]


def test_death_that_was_foreseen_costs_one_worker() -> None:
    """What is not sent together need not run again to tell whose death it was."""
    worker = FakeWorker(lambda names, together: "cos" in names)
    pending = Pending([program(op) for op in ("neg", "cos", "abs")], worker.ask, worker.bury, bool, together=False)
    pending.send()
    assert kinds(pending.result()) == ["Observation", "Death", "Observation"]
    assert worker.asked == [(["neg", "cos", "abs"], False), (["abs"], False)]


def test_worker_that_is_killed_from_elsewhere_costs_no_case() -> None:
    """What it had not answered runs again as it was; who is killed by it each time is blamed."""
    kills = iter([True])
    worker = FakeWorker(lambda names, together: next(kills, False), KILLED)
    assert kinds(worker.result("neg", "cos", "abs")) == ["Observation"] * 3
    assert worker.asked == [(["neg", "cos", "abs"], True)] * 2
    worker = FakeWorker(lambda names, together: "cos" in names, KILLED)
    assert kinds(worker.result("neg", "cos", "abs")) == ["Observation", "Death", "Observation"]
    assert [together for _, together in worker.asked] == [True, True, False, False]


def test_hang_is_the_case_that_it_was_at() -> None:
    """A deadline says by itself which case is to blame: only the others run again, together."""
    worker = FakeWorker(lambda names, together: "cos" in names, HANG)
    results = worker.result("neg", "cos", "abs")
    assert kinds(results) == ["Observation", "Death", "Observation"]
    assert results[1] is HANG
    assert worker.asked == [(["neg", "cos", "abs"], True), (["neg", "abs"], True)]


@pytest.mark.parametrize("death", [DEATH, HANG])
def test_enough_deaths_end_the_asking(death: Death) -> None:
    """What comes after them is not asked for; what came before them is told."""
    worker = FakeWorker(lambda names, together: "cos" in names, death)
    ops = ["neg", "cos", "abs", "cos", "sin"]
    pending = Pending([program(op) for op in ops], worker.ask, worker.bury, lambda: False, enough=2)
    pending.send()
    assert kinds(pending.result()) == ["Observation", "Death", "Observation", "Death"]
    assert worker.asked == [(ops, True), (ops, False), (ops[2:], False)]


def test_death_that_nobody_repeats_is_told() -> None:
    """A worker that died of three Programs together, though each runs alone, leaves a death at the one it was at."""
    worker = FakeWorker(lambda names, together: together)
    results = worker.result("neg", "cos", "abs")
    assert kinds(results) == ["Observation", "Death", "Observation"]
    assert results[1] is DEATH


def test_memory_that_nobody_takes_alone_is_nobodys() -> None:
    """What three Programs together hold beyond the limit, and none of them alone, is no death of any; one that does so
    alone is.
    """
    full = replace(DEATH, cause="out_of_memory")
    worker = FakeWorker(lambda names, together: together, full)
    assert kinds(worker.result("neg", "cos", "abs")) == ["Observation"] * 3
    worker = FakeWorker(lambda names, together: "cos" in names, full)
    assert kinds(worker.result("neg", "cos", "abs")) == ["Observation", "Death", "Observation"]


def test_death_after_the_last_answer_is_the_last_cases() -> None:
    """A worker that dies when it has answered everything has died of the last case."""
    worker = FakeWorker(lambda names, together: False)

    def dying(programs: Sequence[Program], together: bool) -> Iterator[list[Observation]]:
        yield from worker.ask(programs, together)
        raise Gone(timed_out=False)

    pending = Pending([program()], dying, worker.bury, lambda: False)
    assert pending.result() == [DEATH]


def test_result_after_an_exception_asks_again() -> None:
    """What a fault of the worker's own code has left unanswered is asked for again."""
    worker = FakeWorker(lambda names, together: False)
    faults = [HarnessFault("planted")]

    def faulty(programs: Sequence[Program], together: bool) -> Iterator[list[Observation]]:
        answers = worker.ask(programs, together)
        if faults:
            raise faults.pop()
        return answers

    pending = Pending([program("neg"), program("abs")], faulty, worker.bury, lambda: False)
    with pytest.raises(HarnessFault):
        pending.send()
    assert kinds(pending.result()) == ["Observation"] * 2


@pytest.fixture
def warm(torch_session: Session) -> Supervisor:
    """The supervisor whose worker the other tests share."""
    torch_session.supervisor.info()
    return torch_session.supervisor


def sizes(results: Sequence[Observation | Death]) -> list[int]:
    """How many elements each result has."""
    assert all(isinstance(result, Observation) for result in results), results
    return [result.outputs[1].data.size for result in results]  # type: ignore[union-attr]


def test_requests_do_not_mix(warm: Supervisor) -> None:
    """What is asked while something is outstanding gets its own answer, and so does what was outstanding."""
    first, second = warm.submit([program(size=1), program(size=2)]), warm.submit([program(size=3), program(size=4)])
    assert sizes(warm.eager([program(size=5)])) == [5]
    graph = warm.graph([program(size=6)], None)
    assert isinstance(graph, list)
    assert sizes(graph) == [6]  # type: ignore[arg-type]
    assert sizes(second.result()) == [3, 4]
    assert sizes(first.result()) == [1, 2]


def test_info_leaves_what_is_outstanding(warm: Supervisor) -> None:
    """Asking what the target is costs no worker that is at work."""
    spawned, pending = warm.spawned, warm.submit([program(size=1), program(size=2)])
    assert warm._worker is not None
    warm._worker.graphs = workers.MAX_GRAPHS  # it is replaced before its next request, and not before
    assert warm.info().name == "torch"
    assert sizes(pending.result()) == [1, 2]
    assert warm.spawned == spawned


def test_no_programs_leave_what_is_outstanding(warm: Supervisor) -> None:
    """A chunk without a case that can be asked about comes between: the answers before it are still read first."""
    pending, nothing = warm.submit([program(size=1), program(size=2)]), warm.submit([])
    assert warm._worker is not None
    warm._worker.graphs = workers.MAX_GRAPHS
    assert sizes(warm.eager([program(size=3)])) == [3]
    assert sizes(pending.result()) == [1, 2]
    assert nothing.result() == []


def test_closed_worker_is_replaced_for_who_waits(warm: Supervisor) -> None:
    """Answers that end with a worker which somebody closes are asked for again."""
    spawned, pending = warm.spawned, warm.submit([program(size=1), program(size=2)])
    warm.close()
    assert sizes(pending.result()) == [1, 2]
    assert warm.spawned == spawned + 1


def test_answer_is_ready_without_waiting(warm: Supervisor) -> None:
    """Whoever does not want to wait can see that the worker has answered."""
    pending = warm.submit([program(size=1), program(size=2)])
    deadline = time.monotonic() + 30
    while not pending.ready and time.monotonic() < deadline:
        time.sleep(0.01)
    assert pending.ready
    assert pending.outstanding
    assert sizes(pending.result()) == [1, 2]


def test_large_arrays_pass_while_nobody_reads(warm: Supervisor) -> None:
    """More than a pipe holds goes both ways, one request after the other: neither side waits for the other."""
    large = 1 << 20
    pending = [warm.submit([program(size=large), program(size=large)]) for _ in range(3)]
    assert [sizes(one.result()) for one in pending] == [[large, large]] * 3


def test_time_of_the_caller_is_none_of_the_workers(warm: Supervisor, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that has answered, or waits for half of its answer to be read, has not missed its deadline."""
    monkeypatch.setattr(warm, "timeout", 0.5)
    pending = warm.submit([program(size=1 << 20), program(size=1 << 20)])
    time.sleep(1.0)
    assert sizes(pending.result()) == [1 << 20, 1 << 20]


@pytest.fixture
def deadly(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Iterator[Supervisor]:
    """A supervisor of a target with deadly ops."""
    monkeypatch.setenv("AUTOTEST_FAULT", "faults:deadly")
    monkeypatch.setenv("AUTOTEST_ONCE", str(tmp_path))
    monkeypatch.syspath_prepend(str(FAULTS))
    supervisor = Supervisor("torch", 60.0)
    yield supervisor
    supervisor.close()


def test_deaths_of_two_portions(deadly: Supervisor) -> None:
    """Two portions with a deadly case each: both deaths stand with their own cases and calls."""
    first = deadly.submit([program(size=1), program("cos"), program(size=2)])
    second = deadly.submit([program("cos"), program(size=3)])
    last = deadly.submit([program(size=4)])
    assert kinds(first.result()) == ["Observation", "Death", "Observation"]
    assert kinds(second.result()) == ["Death", "Observation"]
    assert sizes(last.result()) == [4]
    for death in (first.result()[1], second.result()[0]):
        assert isinstance(death, Death)
        assert (death.how, death.call) == ("killed by SIGSEGV", 0)


def test_death_of_a_portion_that_is_not_waited_for_together(deadly: Supervisor) -> None:
    """It costs the worker that dies, and no second one."""
    assert kinds(deadly.eager([program()])) == ["Observation"]
    pending = deadly.submit([program(size=1), program("cos"), program(size=2)], together=False)
    assert kinds(pending.result()) == ["Observation", "Death", "Observation"]
    assert deadly.spawned == 2


def test_hang_is_seen_though_nobody_listened(deadly: Supervisor) -> None:
    """A worker that hangs while its caller is busy has had its time when the caller comes back."""
    deadly.info()
    deadly.timeout = 1.0
    pending = deadly.submit([program("tan"), program()])
    time.sleep(1.5)
    hung, seen = pending.result()
    assert isinstance(hung, Death)
    assert (hung.cause, hung.how) == ("timeout", "did not answer within 1 s and was killed")
    assert isinstance(seen, Observation)


def test_interrupted_worker_is_replaced(warm: Supervisor, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer of which somebody has read half is no answer to the next request."""
    pending = warm.submit([program(size=1), program(size=2)])
    worker = warm._worker
    assert worker is not None

    def interrupted(*_: object) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(worker, "_receive", interrupted)
        with pytest.raises(KeyboardInterrupt):
            pending.result()
    spawned = warm.spawned
    assert sizes(warm.eager([program(size=3)])) == [3]
    assert warm.spawned == spawned + 1
    assert sizes(pending.result()) == [1, 2]


def test_surface_is_told_though_something_is_outstanding(warm: Supervisor) -> None:
    """Whoever ends the run hears what the target has; nobody waits for what was submitted last."""
    warm.eager([program()])
    spawned = warm.spawned
    warm.submit([program(size=1), program(size=2)])
    surface = warm.surface(["square"])
    assert surface is not None
    assert surface.names == ("square",)
    assert sizes(warm.eager([program(size=3)])) == [3]
    assert warm.spawned == spawned
