"""The process that has imported what `preloaded.py` lists, and forks: `python fork_server.py torch FOLDER OWNER`,
started by `forks.py`; or `oneflow`, and has half imported OneFlow. It ends when the process `OWNER` does.

A fork is what `python -m MODULE`, `python FILE` or `python -c CODE` would be, with its own folder, variables and open
files. It has a session of its own, and is killed when the launcher that asked for it goes.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import fcntl
import gc
import io
import marshal
import os
import runpy
import selectors
import shutil
import signal
import socket
import sys
import threading
import traceback
import types
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: Linux's MADV_COLLAPSE, of 6.1; an older one says no, and no harm is done.
COLLAPSE = 25
#: Where received descriptors lie until each gets its own number.
HIGH = 500


def serve(place: str, owner: int, fork: Callable[[], int]) -> tuple[dict[str, Any], list[int]]:
    """Fork for each launcher that connects, and tell it how its fork ended, until the process `owner` has. Returns in
    each fork: what was asked for, and the open files for it.
    """
    owned = os.pidfd_open(owner)
    gc.freeze()  # a collection in a fork would copy all of PyTorch's memory
    for finalizer in list(weakref.finalize._registry):  # type: ignore[attr-defined]
        finalizer.atexit = False  # taking PyTorch's operators apart would copy much of it, too
    use_huge_pages()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(place)
    listener.listen(64)
    wake, woken = socket.socketpair()
    wake.setblocking(False)
    woken.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken.fileno())
    selector = selectors.DefaultSelector()
    forks: dict[int, socket.socket] = {}
    for source in (listener, wake, owned):
        selector.register(source, selectors.EVENT_READ)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        for key, _ in selector.select():
            if key.fileobj is owned:
                shutil.rmtree(os.path.dirname(place), ignore_errors=True)
                os._exit(0)  # what we have forked goes with us
            if key.fileobj is listener:
                connection, _ = listener.accept()
                try:
                    asked, received = request_from(connection)
                except ConnectionError:
                    connection.close()
                    continue
                child = fork()
                if child == 0:
                    signal.set_wakeup_fd(-1)
                    for left in (selector, listener, wake, woken, connection, *forks.values()):
                        left.close()
                    return asked, received
                for descriptor in received:
                    os.close(descriptor)
                forks[child] = connection
                selector.register(connection, selectors.EVENT_READ, child)
            elif key.fileobj is wake:
                with contextlib.suppress(BlockingIOError):
                    while wake.recv(4096):
                        pass
                tell_ends(forks, selector)
            elif key.data in forks:  # its launcher is gone, and says nothing else
                os.kill(key.data, signal.SIGKILL)
                selector.unregister(key.fileobj)


def use_huge_pages() -> None:
    """Move our own memory to huge pages, where Linux can: it copies an entry for each page when it forks."""
    huge = 1 << 21
    madvise = ctypes.CDLL(None).madvise
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, rights, _, _, _, *file = line.split()
        if rights == "rw-p" and file in ([], ["[heap]"]):
            start, end = (int(number, 16) for number in span.split("-"))
            for place in range(-(-start // huge) * huge, end // huge * huge, huge):
                madvise(ctypes.c_void_p(place), ctypes.c_size_t(huge), COLLAPSE)


def tell_ends(forks: dict[int, socket.socket], selector: selectors.BaseSelector) -> None:
    """Tell the launcher of each fork that has ended."""
    while forks:
        child, ended = os.waitpid(-1, os.WNOHANG)
        if not child:
            return
        connection = forks.pop(child)
        with contextlib.suppress(OSError):  # the launcher may have gone before
            connection.send(str(os.waitstatus_to_exitcode(ended)).encode())
        with contextlib.suppress(KeyError):
            selector.unregister(connection)
        connection.close()


def request_from(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """What a launcher asks for, and its open files, in the order in which it lists their numbers."""
    head, received, _, _ = socket.recv_fds(connection, 8, 200)
    text = b""
    while not head or len(text) < int.from_bytes(head, "big"):
        more = connection.recv(1 << 16)
        if not more:
            raise ConnectionError("the launcher went before it had asked")
        text += more
    asked: dict[str, Any] = marshal.loads(text)  # noqa: S302 - our own launcher's
    return asked, received


def run(asked: dict[str, Any]) -> None:
    """In the fork: run what was asked for, and end as an interpreter does."""
    status = 1
    try:
        status = ended_with(asked)
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        # Half a second goes into taking PyTorch apart, which nobody needs.
        os._exit(status)


def ended_with(asked: dict[str, Any]) -> int:
    """Run what was asked for; its exit status."""
    try:
        execute(arguments_of(asked))
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return (end.code or 0) & 0xFF
        sys.stderr.write(f"{end.code}\n")
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def become(asked: dict[str, Any], received: list[int]) -> None:
    """Be the interpreter that was asked for."""
    die_with_parent()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    take_over(asked["descriptors"], received)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.executable = asked["python"]


def arguments_of(asked: dict[str, Any]) -> list[str]:
    """What the interpreter is given, less what it takes for itself."""
    if "torch" in sys.modules and "OMP_NUM_THREADS" in os.environ:  # read by PyTorch when it is imported, which it is
        import torch

        torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    arguments = [*asked["arguments"]]
    if arguments[0] == "-u":
        del arguments[0]
        for stream in (sys.stdout, sys.stderr):
            assert isinstance(stream, io.TextIOWrapper)
            stream.reconfigure(write_through=True)
    return arguments


def take_over(numbers: list[int], received: list[int]) -> None:
    """Give each open file the number that it has in the launcher, and close all others."""
    lifted = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, HIGH) for descriptor in received]
    os.closerange(0, HIGH)
    for number, descriptor in zip(numbers, lifted, strict=True):
        os.dup2(descriptor, number)
        os.close(descriptor)


def execute(arguments: list[str]) -> None:
    """Run a module, a file or a text, as the interpreter does that gets these arguments."""
    first, *rest = arguments
    extra = os.environ.get("PYTHONPATH", "")
    start = {"-m": os.getcwd(), "-c": ""}.get(first, str(Path(first).parent.absolute()))
    sys.path[:1] = [start, *extra.split(os.pathsep)] if extra else [start]
    from support.preloaded import forget_displaced  # where the script that we are has told where `support` is

    forget_displaced()
    if first == "-m":
        sys.argv = rest
        if not hasattr(sys.modules.get(rest[0]), "__path__"):
            sys.modules.pop(rest[0], None)  # runpy warns of a module that is there
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif first == "-c":
        sys.argv = ["-c", *rest[1:]]
        main = sys.modules["__main__"] = types.ModuleType("__main__")
        exec(compile(rest[0], "<string>", "exec"), vars(main))  # noqa: S102 - what `python -c` is for
    else:
        sys.argv = arguments
        runpy.run_path(first, run_name="__main__")


def die_with_parent() -> None:
    """Ask Linux to kill this process when its parent dies."""
    parent = os.getppid()
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def serve_oneflow(folder: str, owner: int) -> None:
    """Fork workers of OneFlow in the middle of its import, as the harness does."""
    from autotest.workers.forking import server as product
    from autotest.workers.forking.halt import halted
    from autotest.workers.launch import FORKED

    imports, before = FORKED["oneflow"]
    asked: list[dict[str, Any]] = []

    def fork() -> None:
        given, received = serve(os.path.join(folder, "oneflow"), owner, product.fork_unseen)
        become(given, received)
        asked.append(given)

    with halted(before, fork):
        product.import_all([*product.OURS, *imports])
    gc.enable()
    run(asked[0])


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])
    kind, folder, owner = sys.argv[1:]
    gc.disable()  # what is imported stays: to look for garbage in it takes a third of the time
    if kind == "oneflow":
        sys.path.insert(0, str(Path(__file__).parents[2]))
        serve_oneflow(folder, int(owner))
    from support.preloaded import preload

    preload()
    gc.enable()
    asked, received = serve(os.path.join(folder, kind), int(owner), os.fork)
    become(asked, received)
    run(asked)
