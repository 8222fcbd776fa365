"""The workers that one process forks, seen from the process that wants them."""

from __future__ import annotations

import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import ExitStack, suppress
from typing import IO, Any

from autotest.names import HOME

#: Seconds in which a process must have imported what it forks with; and in which it must end when nobody needs it.
IMPORTED_WITHIN, ENDED_WITHIN = 120.0, 5.0


class Forked:
    """A worker that another process has forked, and hears the end of."""

    def __init__(self, pid: int, end: Future[int], streams: Sequence[IO[bytes]]) -> None:
        self.pid = pid
        self.stdin: IO[bytes] | None
        self.stdout: IO[bytes] | None
        self.stderr: IO[bytes] | None
        self.stdin, self.stdout, self.stderr = streams
        self._end = end

    def poll(self) -> int | None:
        """As of a `Process`."""
        return self._end.result() if self._end.done() else None

    def wait(self, timeout: float | None = None) -> int:
        """As of a `Process`."""
        try:
            return self._end.result(timeout)
        except FutureTimeoutError:
            raise subprocess.TimeoutExpired(f"worker {self.pid}", timeout or 0.0) from None

    def kill(self) -> None:
        """As of a `Process`."""
        if not self._end.done():
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


class Forks:
    """Forks workers, of several threads at once, from one process that has imported what they need.

    `imports` are modules, or `module:function` for what is called after its module is imported. With `before`, also a
    `module:function`, workers are forked within that, before the first call of this function, and each makes the call
    and goes on from there. The first so many workers as are `unforked` are started by themselves: where most need no
    other, a process to fork from costs more than it saves.

    That process starts with the first worker that is forked, in that worker's environment: what the C library reads
    when a process starts is for all as it is for the first. It starts anew where something has ended it, unless it came
    to no fork at all. It ends with its `Forks`, or with the process that has them.
    """

    def __init__(self, imports: Sequence[str], before: str = "", unforked: int = 0) -> None:
        self._imports = imports
        self._before = before
        self._unforked = unforked
        self._lock = threading.Lock()
        self._servers: list[_Server] = []
        self._is_impossible = False
        weakref.finalize(self, _end, self._servers)

    def process(self, environment: Mapping[str, str], progress: int) -> Forked | None:
        """A worker with this environment, which notes its progress in that file; None where none can be forked: then
        the module that cannot be imported, or whatever is wrong, shows in a worker that is started by itself.
        """
        if sys.platform != "linux":  # elsewhere no process ends with its parent
            return None
        with self._lock:
            if self._unforked:
                self._unforked -= 1
                return None
            if self._servers and not self._servers[0].lives:
                self._is_impossible = not self._servers[0].has_forked
                _end(self._servers)
            if self._is_impossible:
                return None
            if not self._servers:
                self._servers.append(_Server(self._imports, self._before, environment))
            return self._servers[0].fork(environment, progress)

    def close(self) -> None:
        """End the process, and with it the workers that still run."""
        with self._lock:
            _end(self._servers)


def _end(servers: list[_Server]) -> None:
    while servers:
        servers.pop().close()


class _Server:
    """The process that forks."""

    def __init__(self, imports: Sequence[str], before: str, environment: Mapping[str, str]) -> None:
        self.has_forked = False
        self._owner = os.getpid()
        self._asked = 0
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._process = subprocess.Popen(  # noqa: S603 - our own module, by our own interpreter
            [sys.executable, "-m", "autotest.workers.forking.server", *imports],
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(environment),
            cwd=HOME,
            start_new_session=True,
        )
        theirs.close()
        with suppress(OSError):  # it has ended already, which whoever asks it for a fork is told
            path = [os.path.abspath(place) for place in sys.path]  # it is in another folder than we
            self._control.send(json.dumps({"path": path, "before": before}).encode())
        #: The number of a request, and what was forked for it; None once there can be no more.
        self._forked: queue.Queue[tuple[int, int | None, Future[int]] | None] = queue.Queue()
        self._running: dict[int, Future[int]] = {}
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def lives(self) -> bool:
        """Whether it can still be asked."""
        return self._listener.is_alive()

    def fork(self, environment: Mapping[str, str], progress: int) -> Forked | None:
        """As `Forks.process`."""
        self._asked += 1
        with ExitStack() as stack, ExitStack() as kept:
            theirs: list[int] = []
            ours: list[IO[bytes]] = []
            for mode in ("wb", "rb", "rb"):
                reads, writes = os.pipe()
                their, our = (reads, writes) if mode == "wb" else (writes, reads)
                stack.callback(os.close, their)
                theirs.append(their)
                ours.append(kept.enter_context(os.fdopen(our, mode)))
            message = json.dumps({"of": self._asked, "environment": {**environment}}).encode()
            try:
                socket.send_fds(self._control, [message], [*theirs, progress])
                forked = self._answer()
            except OSError:  # it has ended, or so long an environment goes into no message
                return None
            except queue.Empty:  # its import hangs: a worker by itself says so, in its own time
                self._process.kill()
                return None
            if forked is not None:
                kept.pop_all()
                return Forked(*forked, ours)
        return None

    def _answer(self) -> tuple[int, Future[int]] | None:
        """What was forked for the request that was sent last; what is answered of one that was given up is passed over:
        that worker ends by itself, since nobody can ask it anything.
        """
        while True:
            answer = self._forked.get(timeout=IMPORTED_WITHIN)
            if answer is None:
                return None
            number, pid, end = answer
            if number == self._asked:
                return None if pid is None else (pid, end)

    def _listen(self) -> None:
        try:
            while told := self._control.recv(4096):
                self._take(json.loads(told))
        except OSError:
            pass
        finally:
            for end in self._running.values():  # they end with it
                end.set_result(-signal.SIGKILL)
            self._forked.put(None)

    def _take(self, message: dict[str, Any]) -> None:
        if "forked" in message:
            end: Future[int] = Future()
            if message["forked"] is not None:
                self.has_forked = True
                self._running[message["forked"]] = end
            self._forked.put((message["of"], message["forked"], end))
        else:
            end_of = self._running.pop(message["ended"], None)
            if end_of is not None:  # what was imported may have started a process, too
                end_of.set_result(message["status"])

    def close(self) -> None:
        """End it, and hear the end of its workers. In another process, which was forked from the one that has started
        it and shares the socket, only that one's copy is closed.
        """
        if os.getpid() != self._owner:
            self._control.close()
            return
        with suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)
        try:
            self._process.wait(ENDED_WITHIN)
        except subprocess.TimeoutExpired:  # it hears of nothing in the middle of an import
            self._process.kill()
            self._process.wait()
        if threading.current_thread() is not self._listener:  # in which a collection may take us apart
            self._listener.join()
        self._control.close()


__all__ = ["Forked", "Forks"]
