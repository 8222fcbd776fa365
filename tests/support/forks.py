"""Python in forks of a process that has imported PyTorch: the import takes most of the three seconds of a start.

A fork runs what `python -m MODULE` or `python FILE` would, with its own folder, environment and output, and ends as a
process does. What looks at imports themselves, or at a whole family of processes, starts a real interpreter instead.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import json
import os
import runpy
import select
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

#: Seconds that no run takes, even on a busy machine.
TIMEOUT = 600.0


class Forks:
    """The process that has imported PyTorch. No target is imported there: a fork of OneFlow hangs."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=outer_environment(),
            # So that a fork that hangs ends together with its parent.
            start_new_session=True,
        )

    def run(
        self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str], *, merged: bool = False
    ) -> subprocess.CompletedProcess[str]:
        """Run `python ARGUMENTS` in a folder, and wait for its end; `merged`: both streams are `stdout`, as they came.
        Raises TimeoutExpired, after which nobody is left to fork.
        """
        assert self._process.stdin
        assert self._process.stdout
        with tempfile.TemporaryDirectory() as scratch:
            paths = [Path(scratch) / name for name in ("out", "out" if merged else "err")]
            asked = {"arguments": [*arguments], "folder": str(folder), "environment": {**environment}}
            print(json.dumps({**asked, "streams": [*map(str, paths)]}), file=self._process.stdin, flush=True)
            ready, _, _ = select.select([self._process.stdout], [], [], TIMEOUT)
            if not ready:
                self.close()
                raise subprocess.TimeoutExpired([*arguments], TIMEOUT)
            status = int(self._process.stdout.readline())
            out, err = (path.read_text(errors="replace") for path in paths)
        return subprocess.CompletedProcess([*arguments], status, out, "" if merged else err)

    def close(self) -> None:
        """End it, and what it has forked."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


@functools.cache
def forks() -> Forks:
    """The one of this process, started at its first use."""
    made = Forks()
    atexit.register(made.close)
    return made


def outer_environment() -> dict[str, str]:
    """Our environment without what the outer pytest put there."""
    return {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "AUTOTEST_"))}


def serve() -> None:
    """Fork for each line of standard input, and answer with the fork's exit status."""
    import torch  # noqa: F401 - imported once, for all

    gc.freeze()  # a collection in a fork would copy all of PyTorch's memory
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            status = ended_with(json.loads(line))
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
            # Half a second goes into taking PyTorch apart, which nobody needs.
            os._exit(status)
        _, ended = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(ended)}\n")
        sys.stdout.flush()


def ended_with(asked: dict[str, Any]) -> int:
    """Run what was asked for; its exit status."""
    try:
        become(asked)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        sys.stderr.write(f"{end.code}\n")
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def become(asked: dict[str, Any]) -> None:
    """Be the interpreter that was asked for."""
    for descriptor, path in enumerate([os.devnull, *asked["streams"]]):
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        os.dup2(opened, descriptor)
        os.close(opened)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    first, *sys.argv = asked["arguments"]
    module = first == "-m"
    start = asked["folder"] if module else str(Path(asked["folder"], first).parent)
    extra = os.environ.get("PYTHONPATH", "")
    sys.path[:1] = [start, *extra.split(os.pathsep)] if extra else [start]
    if module:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv.insert(0, first)
        runpy.run_path(first, run_name="__main__")


if __name__ == "__main__":
    serve()
