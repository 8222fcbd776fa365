"""Budgets: the seconds that a run may spend on a closer look at what it has found."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from autotest.errors import AutotestError

Result = TypeVar("Result")


class OutOfTimeError(AutotestError, TimeoutError):
    """The seconds of a search are spent; what it has found so far is its result."""


@dataclass(slots=True)
class Allowance:
    """So many `seconds`, counted from now; `stopped` where somebody does not want to wait for their end."""

    seconds: float
    started: float = field(default_factory=lambda: time.monotonic())
    stopped: bool = False

    @property
    def spent(self) -> float:
        """The seconds that have gone by; also more than there were."""
        return time.monotonic() - self.started

    @property
    def over(self) -> bool:
        """Whether all of them have gone by, or nobody wants the rest."""
        return self.stopped or self.spent >= self.seconds

    def stop(self) -> None:
        """Let it be over now."""
        self.stopped = True

    def check(self) -> None:
        """Raise OutOfTimeError where they have."""
        if self.over:
            raise OutOfTimeError(f"the {self.seconds:g} s for this are spent")

    def first(self, share: float) -> Allowance:
        """The first share of these seconds."""
        return Allowance(self.seconds * share, self.started)


@dataclass(slots=True)
class Budget(Generic[Result]):
    """Seconds that a process may spend on one kind of work: `total` for all of it, `each` for one fingerprint.

    `found` are the results so far, by fingerprint: what shows in several tests is worked on in the first.
    """

    total: float
    each: float
    left: float = field(init=False)
    found: dict[str, Result] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Nothing is spent yet."""
        self.left = self.total

    @property
    def spent(self) -> bool:
        """Whether nothing more can be worked on."""
        return min(self.each, self.left) <= 0

    def allow(self) -> Allowance:
        """The seconds for one fingerprint, from now."""
        return Allowance(min(self.each, self.left))

    def take(self, allowance: Allowance) -> float:
        """Take from the budget what was spent of an allowance; that many seconds."""
        spent = allowance.spent
        self.left -= spent
        return spent

    def keep(self, fingerprint: str, result: Result) -> Result:
        """Keep what came of a fingerprint."""
        self.found[fingerprint] = result
        return result


__all__ = ["Allowance", "Budget", "OutOfTimeError"]
