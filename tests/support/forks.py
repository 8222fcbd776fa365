"""Python in forks of a process that has imported PyTorch, pytest and this project, as `preloaded.py` lists: imports
take most of the seconds of a start.

`forks().python` is an executable that stands in for the interpreter. What it runs has it as `sys.executable`, so that
the target workers and the xdist workers of an inner run are forks as well. What looks at imports themselves starts a
real interpreter instead.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from support import fork_server, launcher

if TYPE_CHECKING:
    from autotest.workers.supervisor import Supervisor

#: Seconds that no run takes, even on a busy machine.
TIMEOUT = 600.0


class Forks:
    """The process that has imported what `preloaded.py` lists. No target is imported there: a fork of OneFlow hangs."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="autotest-forks-"))
        self.python = self._folder / "python"
        self.python.write_text(f"#!{sys.executable} -IS\n{Path(launcher.__file__).read_text()}")
        self.python.chmod(0o755)
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter
            [sys.executable, fork_server.__file__, str(self._folder / "socket")],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            env=outer_environment(),
            # Ctrl-C is for the tests; it then goes with them.
            start_new_session=True,
        )
        assert self._process.stdout
        assert self._process.stdout.readline() == "ready\n"

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

    def close(self) -> None:
        """End it, and what it has forked."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        self._process.communicate()
        shutil.rmtree(self._folder)


def answering(supervisor: Supervisor) -> psutil.Process:
    """The process that answers a supervisor: where a fork stands in for the interpreter, what was started only waits
    for it, and ends a moment later.
    """
    assert supervisor._worker is not None
    return supervisor._worker._memory._looked_at


@functools.cache
def forks() -> Forks:
    """The one of this process, started at its first use."""
    made = Forks()
    atexit.register(made.close)
    return made


def outer_environment() -> dict[str, str]:
    """Our environment without what the outer pytest put there."""
    return {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "AUTOTEST_"))}
