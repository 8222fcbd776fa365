"""Running a script in a process of its own, which is ended with its children when its time is up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

#: One script may take so many seconds, its imports included.
EACH = 60.0


@dataclass(frozen=True, slots=True)
class Ended:
    """How a script ended: its status (negative: the signal; None: its time was up), and what it printed."""

    status: int | None
    out: str
    err: str


def run_python(
    arguments: Sequence[str], paths: Sequence[str] = (), seconds: float = EACH, python: str | None = None
) -> Ended:
    """Run an interpreter, by default this one, with `arguments`; `paths` is where it may import from."""
    kept = os.environ.get("PYTHONPATH")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*paths, *([kept] if kept else [])])}
    process = subprocess.Popen(  # noqa: S603 - our own interpreter, or the target's
        [python or sys.executable, *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        _end(process)
        out, err = process.communicate()
        return Ended(None, out, err)
    finally:
        _end(process)
    return Ended(process.returncode, out, err)


def _end(process: subprocess.Popen[str]) -> None:
    """End a script and the process that it may have started for the target."""
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGKILL)
