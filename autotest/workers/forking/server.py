"""The process that workers are forked from: `python -m autotest.workers.forking.server IMPORT...`.

It imports what workers need, and from then on forks a worker whenever it is asked to: importing PyTorch takes a hundred
times as long. Or it stays in the middle of an import, before a call in which the target starts threads, which no fork
would have: each worker goes on from there. It runs nothing that is tested, and ends with whoever started it, as its
workers end with it.

Its standard input is a socket of whole messages. The first one says from where it imports, and before which call it
forks: `{"path", "before"}`. Each other is the environment of a worker, as JSON, with four descriptors: three for its
standard streams, and the small file in which it notes its progress. An answer is `{"forked": PID}`; when a worker has
ended, `{"ended": PID, "status": STATUS}` follows, below zero for a signal.
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

from autotest.workers.forking.halt import halted
from autotest.workers.server import Joined, join, serve

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
            except Exception:
                if self._joined is None:
                    raise
                # The worker imports the target once more, and tells what is wrong with it.
        return self._joined

    def _fork(self, fork: Callable[[], int]) -> None:
        gc.collect()
        gc.freeze()  # what all workers share is not written to by their collections
        progress = _worker(self._control, fork)
        if progress is not None:
            self._joined = join(progress)
        if self._joined is None:
            sys.exit()


def import_all(imports: Iterable[str]) -> None:
    """Import modules, and make the calls of those that are `module:function`."""
    for name in imports:
        module, _, function = name.partition(":")
        imported = importlib.import_module(module)
        if function:
            getattr(imported, function)()


def _worker(control: socket.socket, fork: Callable[[], int]) -> int | None:
    """Fork whenever that is asked for. Returns in each worker, with the descriptor of its progress; here it returns
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
        pid = fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            control.close()
            for descriptor in (woken, wakes):
                os.close(descriptor)
            return _become(json.loads(message), descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        control.send(json.dumps({"forked": pid}).encode())


def fork_unseen() -> int:
    """Fork, and leave what libraries have asked for in the new process undone: OneFlow takes a forked process for one
    that loads data, which computes nothing in other threads, and its graphs give what has not been computed yet.

    Ends this process where others of its threads would be lacking, or where the C library cannot do it: glibc can from
    2.34 on.
    """
    library = ctypes.PyDLL(None)
    if len(os.listdir("/proc/self/task")) > 1 or not hasattr(library, "_Fork"):
        sys.exit()
    python = ctypes.pythonapi
    python.PyOS_BeforeFork()
    pid: int = library._Fork()
    (python.PyOS_AfterFork_Parent if pid else python.PyOS_AfterFork_Child)()
    if pid < 0:
        sys.exit()
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
