"""The supervisor of target workers: it spawns them, keeps their deadlines, hears their last words and replaces them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from autotest.errors import EnvironmentFault, HarnessFault, HazardError, UsageError
from autotest.workers.contracts import Answer
from autotest.workers.launch import Launch
from autotest.workers.memory import memory_limit
from autotest.workers.pending import Answers, Pending
from autotest.workers.protocol import Death, GraphFailure
from autotest.workers.worker import SURFACE_TIMEOUT, Gone, Worker
from dual_object.program.program import Program
from dual_object.program.values import Array
from dual_object.replay.adapter import GraphRefusal, Surface, TargetInfo
from dual_object.replay.observation import Observation, from_json
from dual_object.replay.stages import stages

#: A worker is replaced after so many graph compilations (OneFlow aborts after about 1,365) ...
MAX_GRAPHS = 600
#: ... or when it holds so many bytes (compilations leak 0.5 to 7 MB each).
MAX_RSS = 2 << 30


class Supervisor:
    """A warm worker for one target, replaced when it dies, hangs, is poisoned or has grown. A target that is a mere
    name is loaded under it, in an interpreter like this one.

    `timeout` is the seconds one case may take (None: no deadline, under a debugger). `default_dtype` is what floating
    tensors are made in there, None: the target's own. `memory` is the bytes that the worker may hold, 0: no limit,
    None: the share that one worker has of the machine's.
    """

    def __init__(
        self, target: str | Launch, timeout: float | None, default_dtype: str | None = None, memory: int | None = None
    ) -> None:
        self.launch = Launch(target) if isinstance(target, str) else target
        self.target = self.launch.target
        self.timeout = timeout
        self.memory = memory_limit(memory)
        self._default_dtype = default_dtype
        self.spawned = 0
        self._worker: Worker | None = None
        self._info: TargetInfo | None = None
        self._touched: set[str] = set()
        #: What was submitted last.
        self._pending: Pending | None = None

    def start(self) -> None:
        """Spawn the worker; its import goes on while the first bodies are recorded."""
        if self._worker is None:
            self.spawned += 1
            self._worker = Worker(self.launch, self._default_dtype, self.memory)

    def stages(self) -> Mapping[str, Stage]:
        """What runs each of the executors that the target lists, by its name; none where it lists none. Raises
        TargetError as `dual_object.replay.stages`.
        """
        names = stages(self.target)
        return {name: Stage(self, name) for name in names} if len(names) > 1 else {}

    def stage(self, name: str) -> Supervisor | Stage:
        """What runs the stage of this name, alone: the target itself where it lists none."""
        return self.stages().get(name, self)

    def info(self) -> TargetInfo:
        """What the target says of itself; waits for its import the first time."""
        if self._info is None:
            self._ready()
        assert self._info is not None
        return self._info

    def _ready(self) -> Worker:
        worker = self._worker
        if worker is not None and (worker.graphs >= MAX_GRAPHS or worker.rss >= MAX_RSS or worker.grown):
            self.close()
            worker = None
        if worker is None or self._info is None:
            self._info = self._handshake(again=True)
        assert self._worker is not None
        return self._worker

    def _handshake(self, *, again: bool) -> TargetInfo:
        """Start the worker and hear what it says of itself. With `again`, one that a signal ended meanwhile is replaced
        once: the system may have killed it for want of memory.
        """
        self.start()
        assert self._worker is not None
        try:
            return self._worker.handshake()
        except EnvironmentFault:
            killed = self._worker.killed
            self.close()
            if not (again and killed):
                raise
        return self._handshake(again=False)

    def unlowered(self, program: Program) -> str | None:
        """Nothing: it sends every Program as it is."""
        return None

    def submit(self, programs: Sequence[Program], *, together: bool = True, enough: int | None = None) -> Answers:
        """Have programs replayed while the caller does something else; a death costs its own case only, and a worker
        less where they are not waited for `together`. After so many deaths as are `enough`, the rest is not replayed.
        """
        pending = Pending(programs, self._eager, self._bury, self._speaks, together=together, enough=enough)
        pending.send()
        if pending.outstanding:  # then the one before is answered; no programs ask for nothing
            self._pending = pending
        return pending

    def eager(self, programs: Sequence[Program]) -> list[Observation | Death]:
        """Replay programs one after the other; a death costs its own case only."""
        return self.submit(programs).result()

    def _eager(self, programs: Sequence[Program], together: bool) -> Iterator[list[Observation]]:
        """Ask for programs at once; their observations come all at once when together, else one by one."""
        arrays: list[Array] = []
        message = {
            "do": "together" if together else "eager",
            "programs": [program.to_json(arrays) for program in programs],
        }
        frames = self._request(message, arrays)
        # A frame without is a sign of life.
        return ([from_json(data, received) for data in frame["seen"]] for frame, received in frames if "seen" in frame)

    def _speaks(self) -> bool:
        return self._worker is None or self._worker.speaks

    def graph(
        self,
        programs: Sequence[Program],
        gradients: Sequence[Sequence[str]] | None,
        again: Sequence[Sequence[Array] | None] | None = None,
        configuration: str = "",
        stage: str | None = None,
    ) -> list[Observation | GraphRefusal] | GraphFailure | Death:
        """Run programs in ONE static graph, under a configuration where one is named, and of a `stage` where the target
        lists several executors; once more, where the worker is killed from elsewhere.
        """
        result = self._graph(programs, gradients, again, configuration, stage)
        if isinstance(result, Death) and result.killed:
            result = self._graph(programs, gradients, again, configuration, stage)
        return result

    def _graph(
        self,
        programs: Sequence[Program],
        gradients: Sequence[Sequence[str]] | None,
        again: Sequence[Sequence[Array] | None] | None,
        configuration: str,
        stage: str | None,
    ) -> list[Observation | GraphRefusal] | GraphFailure | Death:
        arrays: list[Array] = []
        message: dict[str, Any] = {
            "do": "graph",
            "programs": [program.to_json(arrays) for program in programs],
            "gradients": gradients,
        }
        if configuration:
            message["configuration"] = configuration
        if stage is not None:
            message["stage"] = stage
        if again is not None:
            message["again"] = [None if own is None else _appended(own, arrays) for own in again]
        result: list[Observation | GraphRefusal] | GraphFailure | None = None
        poisoned = False
        try:
            for frame, received in self._request(message, arrays, graphs=len(programs)):
                if "error" in frame:
                    classes, text = frame["error"]
                    result = GraphFailure(tuple(classes), text)
                    poisoned = frame["poisoned"]
                else:
                    result = [_graph_result(item, received) for item in frame["results"]]
        except Gone as gone:
            return self._bury(gone)
        if poisoned:
            self.close()
        assert result is not None
        return result

    def timed(self, program: Program, rounds: int) -> tuple[dict[str, Any], list[Array]] | Death:
        """How long a kernel takes in the call of a Program, and what it gave: for `autotest.kernels.timing` to read."""
        arrays: list[Array] = []
        message = {"do": "time", "programs": [program.to_json(arrays)], "rounds": rounds}
        try:
            [answer] = self._request(message, arrays)
        except Gone as gone:
            return self._bury(gone)
        return answer

    def hazard(self, file: str, name: str, stage: str) -> tuple[str, str] | Death:
        """What the executor of a stage makes of the function that a test of a file poses: an outcome and why.

        Raises UsageError where the worker does not find the test, HazardError where the function itself raises.
        """
        frame = self._posed({"do": "hazard", "file": file, "name": name, "stage": stage})
        if isinstance(frame, Death):
            return frame
        if "raised" in frame:
            raise HazardError(f"the function itself fails, without {stage}: {frame['raised']}")
        outcome, detail = frame["verdict"]
        return outcome, detail

    def contract(self, file: str, name: str, arguments: Mapping[str, Any]) -> Answer | Death:
        """What the target makes of the sentence that a test of a file has for it; `arguments` are the test's own.

        Raises UsageError where the worker does not find the test.
        """
        frame = self._posed({"do": "contract", "file": file, "name": name, "arguments": dict(arguments)})
        return frame if isinstance(frame, Death) else Answer(*frame["answer"])

    def _posed(self, message: dict[str, Any]) -> dict[str, Any] | Death:
        """The answer to a function that a test poses."""
        answer: dict[str, Any] | None = None
        try:
            for frame, _ in self._request(message, []):
                if "unfound" in frame:
                    raise UsageError(frame["unfound"])
                answer = frame
        except Gone as gone:
            return self._bury(gone)
        assert answer is not None
        return answer

    def surface(self, paths: Sequence[str]) -> Surface | None:
        """What the target has, and what has run of it in all workers; None where neither is known.

        `paths` are the reference's ops. Only a worker that runs already is asked: without one, registry and names are
        empty.
        """
        registry: list[str] = []
        names: list[str] = []
        worker, pending = self._worker, self._pending
        outstanding = pending is not None and pending.outstanding
        if worker is not None and (worker.idle or outstanding):
            try:
                if pending is not None and outstanding:  # nobody waits for it any more
                    pending.drop()
                    deque(worker.answer(SURFACE_TIMEOUT), maxlen=0)
                    self._touched |= worker.touched
                worker.ask({"do": "surface", "paths": paths}, [])
                for frame, _ in worker.answer(SURFACE_TIMEOUT):
                    registry, names = frame["registry"], frame["names"]
            except Gone:  # it has died since its last answer
                self.close()
            except HarnessFault:
                self.close()
                raise
        if not (registry or names or self._touched):
            return None
        return Surface(tuple(registry), tuple(sorted(self._touched)), tuple(names))

    def _request(
        self, message: dict[str, Any], arrays: list[Array], graphs: int = 0
    ) -> Iterator[tuple[dict[str, Any], list[Array]]]:
        """Send a request and give the frames of its answer. So many `graphs` that are compiled one by one may take as
        many deadlines.

        The worker has one request at a time: the answers to the one before are read here first. So no answer is taken
        for another's, each death belongs to one request, and neither side blocks because the other does not read.
        """
        if self._pending is not None and self._pending.outstanding:
            self._pending.result()
        self._pending = None
        worker = self._ready()
        if not worker.idle:  # whoever asked it was interrupted, and may have read half of the answer
            self.close()
            worker = self._ready()
        worker.ask(message, arrays)
        assert self._info is not None
        one_by_one = graphs and "compiled_graphs" in self._info.capabilities
        timeout = self.timeout
        return self._answer(worker, timeout * graphs if timeout is not None and one_by_one else timeout)

    def _answer(self, worker: Worker, timeout: float | None) -> Iterator[tuple[dict[str, Any], list[Array]]]:
        try:
            yield from worker.answer(timeout)
        except HarnessFault:
            self.close()
            raise
        self._touched |= worker.touched  # here, for they outlive the worker

    def _bury(self, gone: Gone) -> Death:
        """How the worker ended; the next request spawns another."""
        assert self._worker is not None
        death = self._worker.death(gone.timed_out, self.timeout)
        self._forget()
        return death

    def _forget(self) -> None:
        if self._pending is not None:  # its answers end with the worker: whoever waits for them asks the next one
            self._pending.drop()
        self._worker = None
        self._info = None
        self._pending = None

    def close(self) -> None:
        """End the worker, if there is one."""
        if self._worker is not None:
            self._worker.close()
        self._forget()


class Stage:
    """One of the executors that a target lists, as a target of its own: it has graphs of its own, and eagerly all
    stages are one.
    """

    def __init__(self, supervisor: Supervisor, name: str) -> None:
        self.name = name
        self._supervisor = supervisor

    @property
    def timeout(self) -> float | None:
        """The seconds that one case may take, in any stage."""
        return self._supervisor.timeout

    @timeout.setter
    def timeout(self, seconds: float | None) -> None:
        self._supervisor.timeout = seconds

    def info(self) -> TargetInfo:
        """What the target says of itself, under the name of the stage."""
        return replace(self._supervisor.info(), name=self.name)

    def unlowered(self, program: Program) -> str | None:
        """Why none of the stages can be asked about a Program for its modules."""
        return self._supervisor.unlowered(program)

    def eager(self, programs: Sequence[Program]) -> list[Observation | Death]:
        """Replay programs eagerly."""
        return self._supervisor.eager(programs)

    def graph(
        self,
        programs: Sequence[Program],
        gradients: Sequence[Sequence[str]] | None,
        again: Sequence[Sequence[Array] | None] | None = None,
        configuration: str = "",
    ) -> list[Observation | GraphRefusal] | GraphFailure | Death:
        """Run programs in ONE graph of the stage."""
        return self._supervisor.graph(programs, gradients, again, configuration, self.name)


def _appended(own: Sequence[Array], arrays: list[Array]) -> list[int]:
    """Append to `arrays`; the positions there."""
    arrays += own
    return list(range(len(arrays) - len(own), len(arrays)))


def _graph_result(item: dict[str, Any], arrays: list[Array]) -> Observation | GraphRefusal:
    if "refusal" in item:
        skipped, call, classes, message, uncaptured = item["refusal"]
        return GraphRefusal(skipped, call, tuple(classes), message, uncaptured)
    return from_json(item["seen"], arrays)


__all__ = ["Stage", "Supervisor"]
