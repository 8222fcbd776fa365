"""`python` for what the tests start: it asks a process that has imported PyTorch for a fork, and is then its stand-in.

`forks.py` writes this text into an executable, whose first line names the real interpreter; `-IS`, and how little it
imports, make it start in a dozen milliseconds. The fork gets our arguments, folder, variables and open files. It ends
when we do, and we end as it does.
"""

from __future__ import annotations

import _socket  # what `socket` adds costs as much as all the rest
import array
import marshal
import os
import select
import sys

#: Seconds between two looks at whether our parent is there: a worker that hangs never sees its pipe close.
LOOK = 0.5


def needs_an_interpreter(arguments: list[str]) -> bool:
    """Whether it must be a real one: `-I` asks for nothing else in it; what OneFlow's workers are forked from holds no
    PyTorch, and of the scripts that run a graph of OneFlow's in a fork, one in fifty dies. Where a module of that name
    lies beside a script, it is none of OneFlow's.
    """
    if arguments[:1] == ["-I"]:
        return True
    if arguments[:2] == ["-m", "autotest.workers.forking.server"]:
        return any("oneflow" in argument for argument in arguments)
    script = next((argument for argument in arguments if argument != "-u"), "")
    if not script.endswith(".py") or not os.path.isfile(script):
        return False
    if os.path.isfile(os.path.join(os.path.dirname(script), "oneflow.py")):
        return False
    with open(script, encoding="utf-8") as file:
        text = file.read()
    return "import oneflow" in text or "import_oneflow" in text


def server_of(arguments: list[str]) -> str:
    """The socket of the process that forks this: a worker of OneFlow's holds OneFlow and no PyTorch."""
    if arguments[:2] == ["-m", "autotest.workers.server"] and arguments[2].startswith("oneflow"):
        return "oneflow"
    return "torch"


def main() -> None:
    """Stand in for the fork until either ends."""
    parent = os.getppid()
    if needs_an_interpreter(sys.argv[1:]):
        os.execv(sys.executable, [sys.executable, *sys.argv[1:]])  # noqa: S606 - our own interpreter
    descriptors = open_files()
    server = _socket.socket(_socket.AF_UNIX)
    server.connect(os.path.join(os.path.dirname(__file__), server_of(sys.argv[1:])))
    asked = {
        "python": __file__,
        "arguments": sys.argv[1:],
        "folder": os.getcwd(),
        "environment": {**os.environ},
        "descriptors": descriptors,
    }
    text = marshal.dumps(asked)
    files = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", descriptors))
    server.sendmsg([len(text).to_bytes(8, "big")], [files])
    server.sendall(text)
    while not select.select([server], [], [], LOOK)[0]:
        if os.getppid() != parent:
            return
    status = server.recv(64)
    if not status:
        sys.exit("the process that forks has ended")
    end_with(int(status))


def open_files() -> list[int]:
    """The descriptors that we were started with."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        descriptor = int(name)
        if os.path.exists(f"/proc/self/fd/{descriptor}") and os.get_inheritable(descriptor):
            found.append(descriptor)
    return sorted(found)


def end_with(status: int) -> None:
    """End as the fork did: with its exit status, or by its signal."""
    if status < 0:
        import signal

        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


if __name__ == "__main__":
    main()
