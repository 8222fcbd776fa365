"""Where rounds run: in so many slots, of this machine or of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from autotest.campaign.log import Round
from autotest.campaign.process import Process
from autotest.commands.run import processes


class Slot(Protocol):
    """What runs one round at a time, as the driver sees it.

    Attributes:
        number: its own, from 0.
        answers: the descriptor that becomes readable when it has something to say, or has ended.
        round: the one that it runs.
        tests: those that it has collected, with how many cases a visit of each draws; None while it does.
        counts_unknown: whether an end of which nobody knows at which case it came counts as one at the same case.
    """

    number: int
    answers: int
    round: Round | None
    tests: dict[str, int] | None
    counts_unknown: bool

    @property
    def killed(self) -> bool:
        """Whether something from outside has ended it."""

    def run(self, round_: Round, options: dict[str, Any]) -> None:
        """Tell it to run a round."""

    def heard(self) -> list[dict[str, Any]] | None:
        """What it has said since the last time; None where it has ended."""

    def bring(self, run: Path) -> None:
        """Have what its round has left lie in the run's folder of the driver."""

    def last_started(self, run: Path) -> str | None:
        """The case that its round began last, as far as it is known."""

    def last_words(self) -> str:
        """The end of what it has printed."""

    def how_it_ended(self) -> str:
        """In words."""

    def close(self) -> None:
        """End it, and what it has started."""


class Slots(Protocol):
    """Where slots come from; a context, outside of which there are none."""

    def count(self, asked: str) -> int:
        """How many, of a number or `auto`."""

    def start(self, number: int, arguments: Sequence[str], told: dict[str, Any], log: Path) -> Slot:
        """A new one: pytest with these arguments, and what its plugin is told."""

    def __enter__(self) -> Slots:
        """Have them."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of them."""


class LocalSlots:
    """Processes of this machine."""

    def count(self, asked: str) -> int:
        """As `autotest run -n` counts."""
        return processes(asked)

    def start(self, number: int, arguments: Sequence[str], told: dict[str, Any], log: Path) -> Slot:
        """A process, whose output goes to `log`."""
        return Process(number, arguments, told, log)

    def __enter__(self) -> LocalSlots:
        """Nothing is to be had first."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The driver has closed all of them."""


__all__ = ["LocalSlots", "Slot", "Slots"]
