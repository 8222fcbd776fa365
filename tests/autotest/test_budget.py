"""Seconds that are counted: an allowance runs out, a budget keeps what came of it."""

from __future__ import annotations

import pytest

from autotest import budget as budgets
from autotest.budget import Allowance, Budget, OutOfTimeError


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        """The time."""
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock that budgets look at."""
    made = Clock()
    monkeypatch.setattr(budgets, "time", made)
    return made


def test_allowance_runs_out(clock: Clock) -> None:
    """Seconds are counted from when they are given; the first share of them is over earlier."""
    allowance = Allowance(10.0)
    first = allowance.first(0.5)
    allowance.check()
    clock.now += 5.0
    assert (first.over, allowance.over, allowance.spent) == (True, False, 5.0)
    allowance.check()
    clock.now += 5.0
    with pytest.raises(OutOfTimeError, match=r"^the 10 s for this are spent$"):
        allowance.check()


def test_budget_gives_what_is_left(clock: Clock) -> None:
    """One fingerprint gets its share or what is left; nothing is to be had where nothing is left."""
    budget = Budget[str](total=12.0, each=10.0)
    for seconds, took, left in ((10.0, 10.0, 2.0), (2.0, 3.0, -1.0)):
        allowance = budget.allow()
        assert allowance.seconds == seconds
        assert not budget.spent
        clock.now += took
        assert budget.take(allowance) == allowance.spent
        assert budget.left == left
    assert budget.spent
    assert Budget[str](0.0, 10.0).spent
    assert Budget[str](10.0, 0.0).spent


def test_budget_keeps_results() -> None:
    """What came of a fingerprint is found by it."""
    budget = Budget[str](1.0, 1.0)
    assert budget.keep("a/b", "came of it") == "came of it"
    assert budget.found == {"a/b": "came of it"}
