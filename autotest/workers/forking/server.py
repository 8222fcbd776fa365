"""The process that workers are forked from: `python -m autotest.workers.forking.server IMPORT...`.

It imports what workers need, and from then on forks a worker whenever it is asked to: importing PyTorch takes a hundred
times as long. Or it stays in the middle of an import, before a call in which the target starts threads, which no fork
would have: each worker goes on from there. It runs nothing that is tested, and ends with whoever started it, as its
workers end with it.

Its standard input is a socket of whole messages. The first one says from where it imports, and before which call it
forks: `{"path", "before"}`. Each other is a request, `{"of": NUMBER, "environment"}`, with four descriptors: three for
the worker's standard streams, and the small file in which it notes its progress. An answer is `{"forked": PID, "of":
NUMBER}`, with null where the system forks no more; when a worker has ended, `{"ended": PID, "status": STATUS}` follows,
below zero for a signal.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from autotest.workers.forking.forks import IMPORTED_WITHIN
from autotest.workers.forking.halt import halted
from autotest.workers.server import Joined, join, serve
from dual_object.replay.replay import import_function

#: The longest request, in bytes: no system sends more in one message.
LONGEST = 1 << 20
#: What every worker imports once it serves.
OURS = (
    "autotest.workers.fault_injection",
    "autotest.workers.wire",
    "dual_object.replay.reading",
    "dual_object.replay.stages",
    "psutil",
)


def main() -> None:
    """Fork workers until nobody can ask any more; in a worker, serve."""
    # An import that hangs is nobody's once whoever wanted it has been killed.
    signal.alarm(int(IMPORTED_WITHIN))
    control = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.close(null)
    wanted = json.loads(control.recv(LONGEST))
    sys.path[:] = wanted["path"]
    joined = _Imports([*OURS, *sys.argv[1:]], wanted["before"], control).worker()
    if joined is not None:
        serve(joined)


class _Imports:
    """What is imported before a worker is forked, and in it."""

    def __init__(self, imports: Sequence[str], before: str, control: socket.socket) -> None:
        self._imports = imports
        self._before = before
        self._control = control
        self._joined: Joined | None = None
        self._environment = dict(os.environ)

    def worker(self) -> Joined | None:
        """Import, and fork whenever that is asked for. Returns in each worker; here it returns None once nobody can ask
        any more, and at once where the call before which it should fork was never made: it is too late then.
        """
        if not self._before:
            import_all(self._imports)
            self._fork(os.fork)
            return self._joined
        with halted(self._before, lambda: self._fork(fork_unseen)):
            try:
                import_all(self._imports)
            except Exception as error:
                if self._joined is None:
                    raise
                self._joined = replace(self._joined, failure=error)
        return self._joined

    def _fork(self, fork: Callable[[], int]) -> None:
        gc.collect()
        gc.freeze()  # what all workers share is not written to by their collections
        signal.alarm(0)
        asked = _request(self._control, fork)
        if asked is not None:
            environment, descriptors = asked
            self._joined = join(_become(self._inherited(environment), descriptors))
        if self._joined is None:
            os._exit(0)

    def _inherited(self, environment: dict[str, str]) -> dict[str, str]:
        """A worker's environment, with what the import has set so far, unless the worker was given something else."""
        was = self._environment
        changed = {name: value for name, value in os.environ.items() if was.get(name) != value}
        kept = {name: value for name, value in changed.items() if environment.get(name) == was.get(name)}
        return {**environment, **kept}


def import_all(imports: Iterable[str]) -> None:
    """Import modules, and make the calls of those that are `module:function`."""
    for name in imports:
        if ":" in name:
            import_function(name)()
        else:
            importlib.import_module(name)


def _request(control: socket.socket, fork: Callable[[], int]) -> tuple[dict[str, str], list[int]] | None:
    """Fork whenever that is asked for. Returns in each worker, with its environment and descriptors; here it returns
    None once nobody can ask any more.
    """
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    while True:
        ready, _, _ = select.select([control.fileno(), woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            for pid, status in _ended():
                control.send(json.dumps({"ended": pid, "status": status}).encode())
        if control.fileno() not in ready:
            continue
        message, descriptors, _, _ = socket.recv_fds(control, LONGEST, 4)
        if not message:
            return None
        request = json.loads(message)
        try:
            forked: int | None = fork()
        except OSError:  # there are too many processes, or too little memory
            forked = None
        if forked == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            control.close()
            for descriptor in (woken, wakes):
                os.close(descriptor)
            return request["environment"], descriptors
        for descriptor in descriptors:
            os.close(descriptor)
        control.send(json.dumps({"forked": forked, "of": request["of"]}).encode())


def fork_unseen() -> int:
    """Fork, and leave what libraries have asked for in the new process undone: OneFlow takes a forked process for one
    that loads data, which computes nothing in other threads, and its graphs give what has not been computed yet.

    Ends this process where others of its threads would be lacking, or where the C library cannot do it: glibc can from
    2.34 on. Raises OSError as os.fork.
    """
    library = ctypes.PyDLL(None)
    if len(os.listdir("/proc/self/task")) > 1 or not hasattr(library, "_Fork"):
        os._exit(0)
    python = ctypes.pythonapi
    python.PyOS_BeforeFork()
    pid: int = library._Fork()
    (python.PyOS_AfterFork_Parent if pid else python.PyOS_AfterFork_Child)()
    if pid < 0:
        raise OSError("no process can be forked")
    return pid


def _ended() -> Iterator[tuple[int, int]]:
    """The workers that have ended since this was last asked, and how."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        yield pid, os.waitstatus_to_exitcode(status)


def _become(environment: dict[str, str], descriptors: list[int]) -> int:
    """Be a process as one that was started with this environment and these streams; the descriptor of its progress."""
    os.setsid()
    *streams, progress = descriptors
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(environment)
    return progress


if __name__ == "__main__":
    main()
