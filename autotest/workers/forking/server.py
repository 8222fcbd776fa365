"""The process that workers are forked from: `python -m autotest.workers.forking.server MODULE...`.

It imports the modules, and from then on forks a worker whenever it is asked to: importing PyTorch takes a hundred times
as long. It runs nothing that is tested, and ends with whoever started it, as its workers end with it.

Its standard input is a socket of whole messages. A request is the worker's environment, as JSON, with four
descriptors: three for its standard streams, and the small file in which it notes its progress. An answer is
`{"forked": PID}`; when a worker has ended, `{"ended": PID, "status": STATUS}` follows, below zero for a signal.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Iterator

from autotest.workers.server import main as serve

#: The longest request, in bytes: no system sends more in one message.
LONGEST = 1 << 20


def main() -> None:
    """Fork workers until nobody can ask any more; in a worker, serve."""
    control = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.close(null)
    for name in sys.argv[1:]:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # what all workers share is not written to by their collections
    progress = _worker(control)
    if progress is not None:
        serve(progress)


def _worker(control: socket.socket) -> int | None:
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
        pid = os.fork()
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
