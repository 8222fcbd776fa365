"""How far a run is, shown while pytest prints: the last row of a terminal, or a line now and then in a log."""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from autotest.run.progress.stages import Stage, line, stages, together
from reports.words.literals import literal

#: Seconds between two looks.
IN_A_TERMINAL = 0.5
IN_A_LOG = 30.0
#: The pace that is told is that of so many seconds.
RECENT = 120.0


class Sign(Protocol):
    """Where the line is put up."""

    every: float

    def show(self, text: str) -> None:
        """Put up this text instead of the last one."""

    def clear(self) -> None:
        """Leave no trace where there is something to take away."""


class LastRow:
    """The last row of a terminal. What is printed scrolls above it, so that neither is in the other's way."""

    def __init__(self, descriptor: int) -> None:
        self.every = IN_A_TERMINAL
        self._descriptor = descriptor
        self._size: os.terminal_size | None = None

    def show(self, text: str) -> None:
        """Write it there; the cursor stays where it is."""
        size = os.get_terminal_size(self._descriptor)
        if size.lines < 3:
            return
        start = "" if size == self._size else self._reserve(size)
        self._size = size
        fitting = text if len(text) < size.columns else f"{text[: size.columns - 4]}..."
        self._write(f"{start}\x1b7\x1b[{size.lines};1H\x1b[2K{fitting}\x1b8")

    @staticmethod
    def _reserve(size: os.terminal_size) -> str:
        """Let only the rows above scroll. A step down (`ESC D` keeps the column) and up again makes room where the
        cursor is in the last row already.
        """
        return f"\x1bD\x1b7\x1b[1;{size.lines - 1}r\x1b8\x1b[1A"

    def clear(self) -> None:
        """Give the row back."""
        if self._size is not None:
            self._write(f"\x1b7\x1b[r\x1b[{self._size.lines};1H\x1b[2K\x1b8")
            self._size = None

    def _write(self, text: str) -> None:
        os.write(self._descriptor, text.encode())


class Log:
    """Lines of their own, for a file or a CI server."""

    def __init__(self, descriptor: int) -> None:
        self.every = IN_A_LOG
        self._descriptor = descriptor

    def show(self, text: str) -> None:
        """Add a line; pytest's own may be half written."""
        os.write(self._descriptor, f"\nautotest: {text}\n".encode())

    def clear(self) -> None:
        """Lines stay."""


def sign_for(descriptor: int, environment: Mapping[str, str] = os.environ) -> Sign:
    """The last row where people look at a terminal that can do more than print."""
    terminal = os.isatty(descriptor) and environment.get("TERM", "dumb") != "dumb"
    return LastRow(descriptor) if terminal else Log(descriptor)


class Ticker:
    """Shows how far the run in `folder` is, until it is stopped.

    `doing` is what this process itself does once its tests have ended.
    """

    def __init__(self, folder: Path, sign: Sign) -> None:
        self.doing = ""
        self._folder = folder
        self._sign = sign
        #: How far the run was at each look of the last `RECENT` seconds.
        self._recent: deque[Stage] = deque()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="autotest-ticker", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Show nothing more; stopping twice is allowed."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._stopped.wait(self._sign.every):
                self._tick()
            self._sign.clear()
        except OSError:  # the terminal is gone, or the disk behind the log is full: pytest itself meets that next
            return

    def _tick(self) -> None:
        if self.doing:
            self._sign.show(self.doing)
            return
        found = stages(self._folder)
        if found:
            now = together(found)
            while len(self._recent) > 1 and now.seconds - self._recent[0].seconds > RECENT:
                self._recent.popleft()
            self._sign.show(literal(line(found, self._recent[0] if self._recent else None)))
            self._recent.append(now)


def own_output() -> int | None:
    """A descriptor for what pytest prints to, which stays that while a test's output is captured; None where standard
    output is no file. It is asked for while nothing is captured.
    """
    try:
        return os.dup(sys.stdout.fileno())
    except (OSError, ValueError):
        return None
