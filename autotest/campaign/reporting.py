"""The report of a campaign, while it runs: written by a process of its own, as often as its cost allows."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from autotest.campaign.rounds import SCRIPTS, Rounds
from autotest.commands.summary import tell
from autotest.names import HOME

#: Seconds between two reports, at least; and how many times as long as one has taken it is to the next.
PACE, REST = 60.0, 20.0
#: Columns of what is printed where nobody looks.
WIDTH = 100


class Reporter:
    """Writes the report again and again."""

    def __init__(self, rounds: Rounds) -> None:
        self._rounds = rounds
        self._process: subprocess.Popen[bytes] | None = None
        self._began = 0.0
        self._due = time.monotonic() + PACE
        self._told = 0

    def keep(self) -> None:
        """Write the report if it is time to, and something is new."""
        now = time.monotonic()
        if self._process is not None:
            if self._process.poll() is None:
                return
            self._process = None
            self._due = now + max(PACE, REST * (now - self._began))
        done = len(self._rounds.log.done)
        if now >= self._due and done > self._told:
            self._told, self._began = done, now
            seconds = self._rounds.look_left * SCRIPTS
            self._process = subprocess.Popen(  # noqa: S603 - this module, by our own interpreter
                [sys.executable, "-m", __name__, str(self._rounds.run), str(seconds)],
                cwd=HOME,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )

    def close(self) -> None:
        """End it: whoever closes this writes the report once more."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


if __name__ == "__main__":
    tell(Path(sys.argv[1]), WIDTH, False, float(sys.argv[2]))
