"""A slot, as its driver sees it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autotest.campaign.environment import SLOT
from autotest.campaign.log import Round
from autotest.commands.run import PYTEST
from reports import last_begun

#: So many lines of a slot that has ended are shown.
LAST_LINES = 15


class Process:
    """A pytest process that is given rounds.

    Attributes:
        answers: the descriptor that becomes readable when it has something to say, or has ended.
        round: the one that it runs.
        tests: those that it has collected, with how many cases a visit of each draws; None while it does.
    """

    #: One that ends before its first case is killed from elsewhere.
    counts_unknown = False

    def __init__(self, number: int, arguments: Sequence[str], slot: dict[str, Any], log: Path) -> None:
        self.number = number
        self.log = log
        self.round: Round | None = None
        self.tests: dict[str, int] | None = None
        orders, self._orders = os.pipe()
        self.answers, answers = os.pipe()
        os.set_blocking(self.answers, False)
        self._read = b""
        told = {**slot, "orders": orders, "answers": answers}
        with log.open("wb") as output:
            self._process = subprocess.Popen(  # noqa: S603 - pytest, by our own interpreter
                [sys.executable, "-c", PYTEST, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, SLOT: json.dumps(told)},
                pass_fds=(orders, answers),
                start_new_session=True,  # Ctrl-C is for the driver
            )
        os.close(orders)
        os.close(answers)

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    def run(self, round_: Round, options: dict[str, Any]) -> None:
        """Tell it to run a round."""
        self.round = round_
        visits = [[visit.test, visit.options] for visit in round_.visits]
        order = json.dumps({"round": round_.number, "options": options, "visits": visits}) + "\n"
        with contextlib.suppress(BrokenPipeError):  # that it has ended is seen where its answer is read
            view = memoryview(order.encode("ascii"))
            while view:
                view = view[os.write(self._orders, view) :]

    def heard(self) -> list[dict[str, Any]] | None:
        """What it has said since the last time; None where it has ended."""
        try:
            while chunk := os.read(self.answers, 1 << 16):
                self._read += chunk
        except BlockingIOError:
            *lines, self._read = self._read.split(b"\n")
            return [json.loads(line) for line in lines]
        return None

    def bring(self, run: Path) -> None:
        """Nothing is to be brought: it writes there."""

    def last_started(self, run: Path) -> str | None:
        """The case that its round began last."""
        return None if self.round is None else last_begun(run, self.round.worker)

    def last_words(self) -> str:
        """The end of what it has printed."""
        return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-LAST_LINES:])

    def how_it_ended(self) -> str:
        """In words."""
        code = self._process.wait()
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"

    @property
    def killed(self) -> bool:
        """Whether a signal has ended it."""
        return self._process.wait() < 0

    def close(self) -> None:
        """End it, and the targets that it has started, which go with it."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        self._process.wait()
        os.close(self._orders)
        os.close(self.answers)


__all__ = ["Process"]
