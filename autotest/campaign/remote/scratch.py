"""The folder in which an actor keeps a round's files until they are handed back.

An actor that is killed cannot take its folder away, and nobody else is there on its node: the next one that starts
there does. A folder is somebody's for as long as its `lock` is held, which ends with the process.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

_PREFIX = "autotest-slot-"
_LOCK = "lock"


class Scratch:
    """A new folder of this process, at `path`; those that killed processes have left are taken away."""

    def __init__(self) -> None:
        _sweep(Path(tempfile.gettempdir()))
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        lock = self.path / "new"
        # Children do not hold it: they end a moment after the actor.
        self._lock = os.open(lock, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        lock.rename(self.path / _LOCK)  # nobody sees it before it is held

    def close(self) -> None:
        """Take it away."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def _sweep(home: Path) -> None:
    for lock in home.glob(f"{_PREFIX}*/{_LOCK}"):
        # It is another user's, or another actor takes it away as well.
        with contextlib.suppress(OSError), lock.open("r+b") as held:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(lock.parent, ignore_errors=True)


__all__ = ["Scratch"]
