"""The supervisor of target workers: it spawns them, keeps their deadlines, hears their last words and replaces them."""

from __future__ import annotations

import mmap
import os
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from autotest.errors import EnvironmentFault, HarnessFault
from dual_object import observation, wire
from dual_object.adapter import GraphRefusal, Surface, TargetInfo
from dual_object.observation import Observation
from dual_object.program import Program
from dual_object.replay import BACKWARD
from dual_object.server import PROGRESS
from dual_object.values import Array

#: A worker is replaced after so many graph compilations (OneFlow aborts after about 1,365) ...
MAX_GRAPHS = 600
#: ... or when it holds so many bytes (compilations leak 0.5 to 7 MB each).
MAX_RSS = 2 << 30
#: What makes a process one rank of several to OneFlow, which sets them itself where they are missing.
RANK_VARIABLES = frozenset({"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "LOCAL_RANK"})
#: Seconds in which a target must be imported.
START_TIMEOUT = 120.0
#: Seconds in which an idle worker must say what its target has; it takes 10 milliseconds.
SURFACE_TIMEOUT = 5.0

#: glog's level, date, time and thread: they differ from run to run, and say nothing of the failure.
_GLOG = re.compile(r"^[A-Z]\d{8} [\d:.]+\s+\d+ ")
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True, slots=True)
class Death:
    """A worker ended, or was ended, while it ran something: how, at which case and call of the request or in the case's
    backward, and its last words.
    """

    timed_out: bool
    how: str
    case: int
    call: int | None
    last_words: str
    backward: bool = False

    def sentence(self) -> str:
        """One sentence for people."""
        return f"{self.how}: {self.last_words}" if self.last_words else self.how


@dataclass(frozen=True, slots=True)
class GraphFailure:
    """A graph failed as a whole, the worker lives on or was retired."""

    classes: tuple[str, ...]
    message: str


class _Gone(Exception):  # noqa: N818 - control flow inside this module
    """The worker's pipe closed, or its deadline passed."""

    def __init__(self, timed_out: bool) -> None:
        super().__init__()
        self.timed_out = timed_out


class Worker:
    """One worker process."""

    def __init__(self, target: str, default_dtype: str | None = None) -> None:
        self.target = target
        self.graphs = 0
        self.rss = 0
        #: The op types that have run in it, as far as it has told.
        self.touched: set[str] = set()
        #: Whether it waits for a request: not before the handshake, nor once a request was left unfinished.
        self.idle = False
        self._stderr: deque[bytes] = deque(maxlen=200)
        # A file without a name is left behind by no end that either process may come to.
        shared = tempfile.TemporaryFile()  # noqa: SIM115 - closed once the child has its copy
        shared.write(PROGRESS.pack(0, -1))
        shared.flush()
        self._progress = mmap.mmap(shared.fileno(), PROGRESS.size)
        # A worker is a world of one rank, whatever the ranks of this process.
        environment = {name: value for name, value in os.environ.items() if name not in RANK_VARIABLES}
        environment.setdefault("OMP_NUM_THREADS", "1")
        command = [sys.executable, "-m", "dual_object.server", target]
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            pass_fds=(shared.fileno(),),
            # Ctrl-C is for us; the worker then goes with its pipe or its parent.
            start_new_session=True,
        )
        assert self._process.stdin
        assert self._process.stdout
        assert self._process.stderr
        self._stdin = self._process.stdin
        self._out = self._process.stdout.fileno()
        os.set_blocking(self._out, False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._out, selectors.EVENT_READ)
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        setup = {"path": sys.path, "target": target, "progress": shared.fileno(), "default_dtype": default_dtype}
        shared.close()
        self._send(setup, [])

    def _listen(self) -> None:
        assert self._process.stderr
        for line in iter(self._process.stderr.readline, b""):
            self._stderr.append(line)

    def _send(self, message: dict[str, Any], arrays: list[Array]) -> None:
        try:
            self._stdin.write(wire.pack(message, arrays))
            self._stdin.flush()
        except (BrokenPipeError, OSError):
            raise _Gone(timed_out=False) from None

    def _receive(self, deadline: float | None) -> tuple[dict[str, Any], list[Array]]:
        def exactly(count: int) -> bytearray:
            buffer = bytearray(count)
            view = memoryview(buffer)
            while view:
                try:
                    got = os.readv(self._out, [view])
                except BlockingIOError:
                    left = None if deadline is None else deadline - time.monotonic()
                    if (left is not None and left <= 0) or not self._selector.select(left):
                        raise _Gone(timed_out=True) from None
                    continue
                if not got:
                    raise _Gone(timed_out=False)
                view = view[got:]
            return buffer

        try:
            return wire.read(exactly)
        except wire.WireError:  # the target wrote into our pipe: nothing it says can be trusted from here on
            raise _Gone(timed_out=False) from None

    def handshake(self) -> TargetInfo:
        """Wait until the target is imported; raises EnvironmentFault in one sentence where that fails."""
        try:
            message, _ = self._receive(time.monotonic() + START_TIMEOUT)
        except _Gone as gone:
            how = f"did not start in {START_TIMEOUT:.0f} s" if gone.timed_out else self._how_it_ended()
            raise EnvironmentFault(
                f"target {self.target!r} died at import: {how}; its last words: {self.last_words() or 'none'}"
            ) from None
        if "refused" in message:
            raise EnvironmentFault(message["refused"])
        self.idle = True
        return TargetInfo(
            message["name"],
            message["environment"],
            *(tuple(message[name]) for name in ("devices", "dtypes", "capabilities")),
        )

    def request(
        self, message: dict[str, Any], arrays: list[Array], timeout: float | None
    ) -> Iterator[tuple[dict[str, Any], list[Array]]]:
        """Send a request and give its frames, each within `timeout` seconds of the one before; raises _Gone."""
        self.idle = False
        self._send(message, arrays)
        while True:
            frame, found = self._receive(None if timeout is None else time.monotonic() + timeout)
            if "fault" in frame:
                raise HarnessFault(f"the target worker failed in code of its own:\n{frame['fault']}")
            if "done" in frame:
                self.graphs, self.rss = frame["graphs"], frame["rss"]
                self.touched.update(frame["touched"])
                self.idle = True
                return
            yield frame, found

    def death(self, timed_out: bool, seconds: float | None) -> Death:
        """Put an end to the process and say how it ended."""
        case, call = PROGRESS.unpack_from(self._progress, 0)
        if timed_out:
            self.close()
            how = f"did not answer within {seconds:g} s and was killed"
        else:
            how = self._how_it_ended()
        last_words = self.last_words()
        self.close()
        return Death(timed_out, how, case, call if call >= 0 else None, last_words, call == BACKWARD)

    @property
    def killed(self) -> bool:
        """Whether a signal has ended the process."""
        return (self._process.poll() or 0) < 0

    def _how_it_ended(self) -> str:
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return "closed its pipe"
        self._listener.join(timeout=5)
        if code < 0:
            return f"killed by {signal.Signals(-code).name}"
        return f"exited with status {code}"

    def last_words(self) -> str:
        """What the worker said last: glog's `Check failed` line if there is one, an exception, else the last line."""
        return last_words(list(self._stderr))

    def close(self) -> None:
        """Kill the process and free what it held."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._listener.join(timeout=5)
        self._selector.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:  # what was still buffered for a dead worker
                    continue
        self._progress.close()


def last_words(output: Sequence[bytes]) -> str:
    """What a process said last: glog's `Check failed` line if there is one, an exception, else the last line."""
    lines = [_ANSI.sub("", line.decode(errors="replace")).strip() for line in output]
    # pytest's dots may stand before the first word of a fatal error.
    lines = [re.sub(r"^\S.*?(?=Fatal Python error: |F\d{8} \d\d:)", "", line) for line in lines if line]
    for line in reversed(lines):
        if "Check failed" in line:
            return _GLOG.sub("", line)[:400]
    # Traces, glog's warnings at import, and what a CUDA build says once on a machine without a GPU.
    idle = re.compile(r"@|\*\*\*|Extension modules|libibverbs|[WI]\d{8} |.*CUDA driver version is insufficient")
    spoken = [line for line in lines if not idle.match(line)]
    fatal = [line for line in spoken if re.match(r"F\d{8} |Fatal Python error|[A-Za-z.]+(Error|Exception)\b", line)]
    chosen = fatal or spoken
    return chosen[-1][:400] if chosen else ""


class Supervisor:
    """A warm worker for one target, replaced when it dies, hangs, is poisoned or has grown.

    `timeout` is the seconds one case may take (None: no deadline, under a debugger). `default_dtype` is what floating
    tensors are made in there, None: the target's own.
    """

    def __init__(self, target: str, timeout: float | None, default_dtype: str | None = None) -> None:
        self.target = target
        self.timeout = timeout
        self._default_dtype = default_dtype
        self.spawned = 0
        self._worker: Worker | None = None
        self._info: TargetInfo | None = None
        self._touched: set[str] = set()

    def start(self) -> None:
        """Spawn the worker; its import goes on while the first bodies are recorded."""
        if self._worker is None:
            self.spawned += 1
            self._worker = Worker(self.target, self._default_dtype)

    def info(self) -> TargetInfo:
        """What the target says of itself; waits for its import the first time."""
        self._ready()
        assert self._info is not None
        return self._info

    def _ready(self) -> Worker:
        worker = self._worker
        if worker is not None and (worker.graphs >= MAX_GRAPHS or worker.rss >= MAX_RSS):
            self.close()
            worker = None
        if worker is None or self._info is None:
            self._info = self._handshake(again=True)
        assert self._worker is not None
        return self._worker

    def _handshake(self, *, again: bool) -> TargetInfo:
        """Start the worker. One that a signal ends meanwhile is, where `again`, replaced once: it may have come from
        whoever kills what takes much memory.
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

    def eager(self, programs: Sequence[Program]) -> list[Observation | Death]:
        """Replay programs one after the other; a death costs its own case only.

        They are asked for together, and waited for once. When the worker dies of one of them, all run again one by
        one, each waited for,
        so that an asynchronous death is blamed on its own case.
        """
        results: dict[int, Observation | Death] = {}
        together = len(programs) > 1
        first: tuple[int, Death] | None = None
        while len(results) < len(programs):
            remaining = [index for index in range(len(programs)) if index not in results]
            answered: list[Observation] = []
            death: Death | None = None
            try:
                for seen in self._eager([programs[index] for index in remaining], together):
                    answered += seen
            except _Gone as gone:
                death = self._bury(gone)
                if together and not (death.timed_out and death.case < len(remaining)):
                    together = False
                    first = remaining[min(death.case, len(remaining) - 1)], death
                    continue
            results.update(zip(remaining, answered, strict=False))
            if death is not None:  # one that comes when all is answered is the last case's
                culprit = death.case if together else min(len(answered), len(remaining) - 1)
                results[remaining[culprit]] = death
        if first is not None and not any(isinstance(result, Death) for result in results.values()):
            index, death = first  # nobody dies of it alone, yet the worker died
            results[index] = death
        return [results[index] for index in range(len(programs))]

    def _eager(self, programs: Sequence[Program], together: bool) -> Iterator[list[Observation]]:
        """Observations as they come: all at once when together, else one by one; raises _Gone."""
        arrays: list[Array] = []
        message = {
            "do": "together" if together else "eager",
            "programs": [program.to_json(arrays) for program in programs],
        }
        for frame, found in self._request(message, arrays):
            if "seen" in frame:  # else a sign of life, which moves the deadline
                yield [observation.from_json(data, found) for data in frame["seen"]]

    def graph(
        self,
        programs: Sequence[Program],
        gradients: Sequence[Sequence[str]] | None,
        again: Sequence[Sequence[Array] | None] | None = None,
    ) -> list[Observation | GraphRefusal] | GraphFailure | Death:
        """Run programs in ONE static graph."""
        arrays: list[Array] = []
        message: dict[str, Any] = {
            "do": "graph",
            "programs": [program.to_json(arrays) for program in programs],
            "gradients": gradients,
        }
        if again is not None:
            message["again"] = [None if own is None else _appended(own, arrays) for own in again]
        result: list[Observation | GraphRefusal] | GraphFailure | None = None
        poisoned = False
        try:
            for frame, found in self._request(message, arrays):
                if "error" in frame:
                    classes, text = frame["error"]
                    result = GraphFailure(tuple(classes), text)
                    poisoned = frame["poisoned"]
                else:
                    result = [_graph_result(item, found) for item in frame["results"]]
        except _Gone as gone:
            return self._bury(gone)
        if poisoned:
            self.close()
        assert result is not None
        return result

    def surface(self, paths: Sequence[str]) -> Surface | None:
        """What the target has, and what has run of it in all workers; None where neither is known.

        `paths` are the reference's ops. A worker that waits for a request is asked; none is started for this, so
        registry and names are empty when the last one has died.
        """
        registry: list[str] = []
        names: list[str] = []
        if self._worker is not None and self._worker.idle:
            try:
                for frame, _ in self._worker.request({"do": "surface", "paths": paths}, [], SURFACE_TIMEOUT):
                    registry, names = frame["registry"], frame["names"]
            except _Gone:  # it has died since its last answer
                self.close()
            except HarnessFault:
                self.close()
                raise
        if not (registry or names or self._touched):
            return None
        return Surface(tuple(registry), tuple(sorted(self._touched)), tuple(names))

    def _request(self, message: dict[str, Any], arrays: list[Array]) -> Iterator[tuple[dict[str, Any], list[Array]]]:
        worker = self._ready()
        try:
            yield from worker.request(message, arrays, self.timeout)
        except HarnessFault:
            self.close()
            raise
        self._touched |= worker.touched  # here, for they outlive the worker

    def _bury(self, gone: _Gone) -> Death:
        """How the worker ended; the next request spawns another."""
        assert self._worker is not None
        death = self._worker.death(gone.timed_out, self.timeout)
        self._forget()
        return death

    def _forget(self) -> None:
        self._worker = None
        self._info = None

    def close(self) -> None:
        """End the worker, if there is one."""
        if self._worker is not None:
            self._worker.close()
        self._forget()


def _appended(own: Sequence[Array], arrays: list[Array]) -> list[int]:
    """Append to `arrays`; the positions there."""
    arrays += own
    return list(range(len(arrays) - len(own), len(arrays)))


def _graph_result(item: dict[str, Any], arrays: list[Array]) -> Observation | GraphRefusal:
    if "refusal" in item:
        skipped, call, classes, message = item["refusal"]
        return GraphRefusal(skipped, call, tuple(classes), message)
    return observation.from_json(item["seen"], arrays)


__all__ = ["Death", "GraphFailure", "Supervisor", "Worker"]
