"""Running a script in a process of its own, which is ended with its children when its time is up, and by itself when
whoever runs it is killed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from autotest.budget import Allowance

#: One script may take so many seconds, its imports included.
EACH = 60.0
#: Seconds after which a script ends at the latest that nobody waits for any longer.
_NOTICE = 0.2
#: Run by an interpreter, becomes the command that follows, of its parent's process id and the command: Linux kills it
#: when its parent dies. A script that never ends would outlive a run that was killed, and keep a core busy.
_BOUND = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, 9)
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a script ended: its status (negative: the signal; None: it was ended), and what it printed."""

    status: int | None
    out: str
    err: str


def run_python(
    arguments: Sequence[str],
    paths: Sequence[str] = (),
    seconds: float = EACH,
    python: str | None = None,
    allowance: Allowance | None = None,
) -> Ended:
    """Run an interpreter, by default this one, with `arguments`; `paths` is where it may import from. It is ended after
    so many seconds, and where its `allowance` is stopped.
    """
    own = Allowance(seconds)
    kept = os.environ.get("PYTHONPATH")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*paths, *([kept] if kept else [])])}
    process = subprocess.Popen(  # noqa: S603 - our own interpreter, or the target's
        _bound([python or sys.executable, *arguments]),
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        while True:
            try:
                out, err = process.communicate(timeout=_NOTICE)
                return Ended(process.returncode, out, err)
            except subprocess.TimeoutExpired:
                if own.over or (allowance is not None and allowance.stopped):
                    _end(process)
                    out, err = process.communicate()
                    return Ended(None, out, err)
    finally:
        _end(process)


def _bound(command: list[str]) -> list[str]:
    """The command, ended with this process where the system can do that."""
    if sys.platform != "linux":
        return command
    return [sys.executable, "-I", "-S", "-c", _BOUND, str(os.getpid()), *command]


def _end(process: subprocess.Popen[str]) -> None:
    """End a script and the process that it may have started for the target."""
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGKILL)
