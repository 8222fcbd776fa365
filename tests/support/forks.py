"""Python in forks of a process that has imported PyTorch, pytest and this project, as `preloaded.py` lists: imports
take most of the seconds of a start.

`forks().python` is an executable that stands in for the interpreter. What it runs has it as `sys.executable`, so that
the target workers and the xdist workers of an inner run are forks as well. What looks at imports themselves starts a
real interpreter instead.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from support import fork_server, launcher

if TYPE_CHECKING:
    from autotest.workers.supervisor import Supervisor

#: What a machine has that has a GPU.
GPU = Path("/dev/nvidiactl")
#: Seconds that no run takes, even on a busy machine.
TIMEOUT = 600.0


class Forks:
    """The process that has imported what `preloaded.py` lists, and the one for OneFlow's workers. Scripts and runs are
    forks of the first, which has no target: a fork of all of OneFlow hangs.

    The first who asks for one in this folder starts it. It ends with the process `owner`, and takes its folder away.
    """

    def __init__(self, folder: Path, owner: int, server: str = fork_server.__file__) -> None:
        self.python = folder / "python"
        self.servers: list[int] = []
        if GPU.exists():  # what is imported there begins with CUDA, which no fork can go on with
            self.python = Path(sys.executable)
            return
        folder.mkdir(exist_ok=True)
        with locked(folder / "lock"):
            if not self.python.exists():
                self._start(folder, owner, server)

    def _start(self, folder: Path, owner: int, server: str) -> None:
        # OneFlow's is of one thread: others would be missing in a fork.
        kinds: dict[str, dict[str, str]] = {"torch": {}, "oneflow": {"OMP_NUM_THREADS": "1"}}
        ready, writes = os.pipe()
        for kind, variables in kinds.items():
            # Not by subprocess, which warns of what goes on after this process: others may be using it.
            self.servers.append(
                os.posix_spawn(
                    sys.executable,
                    [sys.executable, server, kind, str(folder), str(owner)],
                    {**outer_environment(), **variables},
                    file_actions=[
                        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                        (os.POSIX_SPAWN_DUP2, writes, 1),
                    ],
                    setsid=True,  # Ctrl-C is for the tests; it then goes with them
                )
            )
        os.close(writes)
        with open(ready, encoding="utf-8") as told:
            assert [told.readline() for _ in kinds] == ["ready\n"] * len(kinds)
        self.python.touch(0o755)
        self.python.write_text(f"#!{sys.executable} -IS\n{Path(launcher.__file__).read_text()}")

    def run(
        self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str], *, merged: bool = False
    ) -> subprocess.CompletedProcess[str]:
        """Run `python ARGUMENTS` in a folder, and wait for its end; `merged`: both streams are `stdout`, as they came.
        Raises TimeoutExpired, with nothing left of it.
        """
        return subprocess.run(  # noqa: S603 - our own interpreter
            [str(self.python), *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if merged else subprocess.PIPE,
            text=True,
            errors="replace",
            timeout=TIMEOUT,
            check=False,
        )


def answering(supervisor: Supervisor) -> psutil.Process:
    """The process that answers a supervisor: where a fork stands in for the interpreter, what was started only waits
    for it, and ends a moment later.
    """
    assert supervisor._worker is not None
    return supervisor._worker._memory._looked_at


@functools.cache
def forks() -> Forks:
    """The one of this run of tests, started at its first use. All workers of xdist share it: what it imports takes 14
    seconds of a processor.
    """
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    if run is None:
        return Forks(Path(tempfile.mkdtemp(prefix="autotest-forks-")), os.getpid())
    return Forks(Path(tempfile.gettempdir()) / f"autotest-forks-{run}", os.getppid())


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Alone with what the file stands for, among all processes that ask for it."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def outer_environment() -> dict[str, str]:
    """Our environment without what the outer pytest put there, and without the size of its terminal, which readline
    hands to what a process starts.
    """
    ours = ("PYTEST_", "AUTOTEST_", "COLUMNS", "LINES")
    return {key: value for key, value in os.environ.items() if not key.startswith(ours)}
