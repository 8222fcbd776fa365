"""One worker process: its start, its requests, its end."""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import re
import selectors
import signal
import subprocess
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from autotest.errors import EnvironmentFault, HarnessFault
from autotest.workers import wire
from autotest.workers.launch import Launch
from autotest.workers.memory import Watch, words
from autotest.workers.protocol import RANK_VARIABLES, Cause, Death
from autotest.workers.server import PROGRESS
from dual_object.program.values import Array
from dual_object.replay.adapter import Configuration, TargetInfo
from dual_object.replay.replay import BACKWARD

#: Seconds in which an idle worker must say what its target has; it takes 10 milliseconds.
SURFACE_TIMEOUT = 5.0
#: Seconds in which a process that was killed must be seen to have ended.
ENDED_WITHIN = 10.0
#: glog's level, date, time and thread: they differ from run to run, and say nothing of the failure.
_GLOG = re.compile(r"^[A-Z]\d{8} [\d:.]+\s+\d+ ")
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


class Gone(Exception):  # noqa: N818 - control flow inside this package
    """The worker's pipe closed, or its deadline passed."""

    def __init__(self, timed_out: bool) -> None:
        super().__init__()
        self.timed_out = timed_out


class Worker:
    """One worker process; `memory` is how many bytes it may hold, None: as many as there are."""

    def __init__(self, launch: Launch, default_dtype: str | None = None, memory: int | None = None) -> None:
        self.target = launch.target
        self._python = launch.python
        self._start_timeout = launch.start_timeout
        self.graphs = 0
        #: What it held when it had answered last, and when the target was imported.
        self.rss = self._imported = 0
        #: The op types that have run in it, as far as it has told.
        self.touched: set[str] = set()
        #: Whether it waits for a request: not before the handshake, nor once a request was left unfinished.
        self.idle = False
        #: When it was last heard of: asked something, or read from.
        self._heard = time.monotonic()
        self._stderr: deque[bytes] = deque(maxlen=200)
        # A file without a name is left behind by no end that either process may come to.
        shared = tempfile.TemporaryFile()  # noqa: SIM115 - closed once the child has its copy
        shared.write(PROGRESS.pack(0, -1))
        shared.flush()
        self._progress = mmap.mmap(shared.fileno(), PROGRESS.size)
        # A worker is a world of one rank, whatever the ranks of this process.
        environment = {name: value for name, value in os.environ.items() if name not in RANK_VARIABLES}
        environment.setdefault("OMP_NUM_THREADS", "1")
        # Names in the trace of an abort, which nobody reads here: finding them takes glog a quarter of a second.
        environment.setdefault("GLOG_symbolize_stacktrace", "0")
        environment.update(launch.environment)
        # Where we have no standard input, the file may have its number, which the worker's takes.
        progress = fcntl.fcntl(shared.fileno(), fcntl.F_DUPFD_CLOEXEC, 3)
        shared.close()
        try:
            self._process = launch.process(environment, progress)
        finally:
            os.close(progress)
        self._memory = Watch(self._process, memory)
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
        setup = {
            "folder": os.getcwd(),
            "path": launch.path,
            "target": launch.loads,
            "progress": progress,
            "default_dtype": default_dtype,
        }
        self._send(setup, [])

    def _listen(self) -> None:
        assert self._process.stderr
        for line in iter(self._process.stderr.readline, b""):
            self._stderr.append(line)

    def _send(self, message: dict[str, Any], arrays: list[Array]) -> None:
        self._heard = time.monotonic()
        with contextlib.suppress(OSError):  # a worker that has ended is told of by whoever reads its answer
            self._stdin.write(wire.pack(message, arrays))
            self._stdin.flush()

    def _receive(self, timeout: float | None) -> tuple[dict[str, Any], list[Array]]:
        def exactly(count: int) -> bytearray:
            buffer = bytearray(count)
            view = memoryview(buffer)
            while view:
                try:
                    got = os.readv(self._out, [view])
                except BlockingIOError:
                    left = None if timeout is None else self._heard + timeout - time.monotonic()
                    if (left is not None and left <= 0) or not self._selector.select(left):
                        raise Gone(timed_out=True) from None
                    continue
                if not got:
                    raise Gone(timed_out=False)
                view = view[got:]
                self._heard = time.monotonic()
            return buffer

        try:
            return wire.read(exactly)
        except wire.WireError:  # the target wrote into our pipe: nothing it says can be trusted from here on
            raise Gone(timed_out=False) from None

    def handshake(self) -> TargetInfo:
        """Wait until the target is imported; raises EnvironmentFault in one sentence where that fails."""
        self._heard = time.monotonic()
        try:
            message, _ = self._receive(self._start_timeout)
        except Gone as gone:
            overrun = self._memory.overrun
            if overrun is not None:
                raise EnvironmentFault(
                    f"memory_limit={words(overrun.limit)}, but should be more than what target {self.target!r} "
                    "takes to be imported [--memory-limit]"
                ) from None
            how = f"did not start in {self._start_timeout:.0f} s" if gone.timed_out else self._how_it_ended()
            said = self.last_words()
            ended = f"target {self.target!r} died at import: {how}; its last words: {said or 'none'}"
            # What neither raises nor says what it wants is no Python, or has not even begun.
            if self._python is not None and not any(word in said for word in ("Error", "should")):
                ended += f"; {self._python} should be CPython, 3.10 or newer [--target-python]"
            raise EnvironmentFault(ended) from None
        if "refused" in message:
            raise EnvironmentFault(message["refused"])
        self.idle = True
        self._memory.follow(message["pid"])
        self._imported = self._memory.size()
        return TargetInfo(
            message["name"],
            message["environment"],
            tuple(message["devices"]),
            tuple(message["dtypes"]),
            tuple(message["capabilities"]),
            tuple(Configuration(*row) for row in message["configurations"]),
            tuple(message["lacks"]),
            message["translations"],
            message["called"],
            tuple(message["shares"]),
        )

    def ask(self, message: dict[str, Any], arrays: list[Array]) -> None:
        """Send a request. Its answer must be read to the end before the next one is sent."""
        self.idle = False
        self._send(message, arrays)

    @property
    def speaks(self) -> bool:
        """Whether there is something to read: an answer, a sign of life, or its end."""
        return bool(self._selector.select(0))

    def answer(self, timeout: float | None) -> Iterator[tuple[dict[str, Any], list[Array]]]:
        """The frames that answer the request; raises Gone where the worker is silent for `timeout` seconds.

        Silence counts from the request, or from what was last read. What lies unread in the pipe is read first, so that
        a worker whose answer nobody has read yet is not taken for one that hangs.
        """
        while True:
            frame, arrays = self._receive(timeout)
            if "fault" in frame:
                raise HarnessFault(f"the target worker failed in code of its own:\n{frame['fault']}")
            if "done" in frame:
                self.graphs, self.rss = frame["graphs"], frame["rss"]
                self.touched.update(frame["touched"])
                self.idle = True
                return
            yield frame, arrays

    def death(self, timed_out: bool, seconds: float | None) -> Death:
        """Put an end to the process and say how it ended."""
        case, call = PROGRESS.unpack_from(self._progress, 0)
        cause: Cause = "crash"
        overrun = self._memory.overrun
        if overrun is not None:
            cause = "out_of_memory"
            held, limit = words(overrun.held, up=True), words(overrun.limit)
            how = f"held {held} of memory, more than its limit of {limit}, and was killed"
        elif timed_out:
            self.close()
            cause = "timeout"
            how = f"did not answer within {seconds:g} s and was killed"
        else:
            how = self._how_it_ended()
        last_words = self.last_words()
        self.close()
        killed = cause == "crash" and how == f"killed by {signal.SIGKILL.name}"
        return Death(cause, how, case, call if call >= 0 else None, last_words, call == BACKWARD, killed)

    @property
    def grown(self) -> bool:
        """Whether it has used up half of what its limit leaves it for cases: what a target never gives back (a graph
        leaks 0.5 to 7 MB) is no case's fault.
        """
        limit = self._memory.limit
        return limit is not None and self.rss >= (self._imported + limit) / 2

    @property
    def killed(self) -> bool:
        """Whether a signal that was not ours has ended the process."""
        return (self._process.poll() or 0) < 0 and self._memory.overrun is None

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
        """Kill the process and what it has started, and free what it held."""
        self._memory.close()
        # It has a session of its own: what it has started, such as a compiler, ends with it.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        # One that has just been forked may have no session yet.
        self._process.kill()
        # Who would tell of its end may have been stopped.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(ENDED_WITHIN)
        self._listener.join(timeout=5)
        self._selector.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            # Whoever still reads the last one holds it.
            if stream is not None and not (stream is self._process.stderr and self._listener.is_alive()):
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
    # Traces, warnings of Python and of glog, and what a CUDA build says once on a machine without a GPU.
    idle = re.compile(
        r"@|\*\*\*|Extension modules|libibverbs|[WI]\d{8} |.*CUDA driver version is insufficient"
        r"|.*:\d+: \w*Warning: |warnings\.warn\("
    )
    spoken = [line for line in lines if not idle.match(line)]
    fatal = [line for line in spoken if re.match(r"F\d{8} |Fatal Python error|[A-Za-z.]+(Error|Exception)\b", line)]
    chosen = fatal or spoken
    return chosen[-1][:400] if chosen else ""
