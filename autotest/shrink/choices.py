"""Hypothesis as a shrinker: a `Source` that draws from its data, and `minimise`.

Every use of Hypothesis' private names is here. They change without notice, so `check_available` shrinks an example
whose minimum is known before anything relies on them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.metadata import version
from random import Random
from typing import TYPE_CHECKING

from autotest.errors import AutotestError
from generators import RangeError
from generators.source import Choice, Source

if TYPE_CHECKING:
    from hypothesis.internal.conjecture.data import ConjectureData

#: What a change of private names raises first.
_CHANGED = (ImportError, AttributeError, TypeError, AssertionError)


class UnavailableError(AutotestError, RuntimeError):
    """The installed Hypothesis is not one that choices can be shrunk with."""


class HypothesisSource:
    """The `Source` of a shrinker: every draw is one choice of Hypothesis' data, `weights` are ignored."""

    __slots__ = ("_data", "choices")

    def __init__(self, data: ConjectureData) -> None:
        """Takes the data of one run."""
        self.choices: list[Choice] = []
        self._data = data

    def integer(self, low: int, high: int) -> int:
        """An integer of [low, high); RangeError when empty."""
        _refuse_empty(low, high, "integer")
        value = self._data.draw_integer(low, high - 1)
        self.choices.append(Choice("integer", value, low, high))
        return value

    def boolean(self) -> bool:
        """Either; False is the simpler one."""
        value = self._data.draw_boolean()
        self.choices.append(Choice("boolean", value))
        return value

    def floating(self, low: float, high: float) -> float:
        """A float of [low, high); RangeError when empty or not finite."""
        _refuse_empty(low, high, "floating")
        low, high = float(low), float(high)
        value = self._data.draw_float(low, math.nextafter(high, low), allow_nan=False)
        self.choices.append(Choice("floating", value, low, high))
        return value

    def index(self, n: int, weights: Sequence[float] | None = None) -> int:
        """One of 0 ... n - 1, the first being the simplest; RangeError for n below 1."""
        _refuse_empty(0, n, "index")
        value = self._data.draw_integer(0, n - 1)
        self.choices.append(Choice("index", value, n=n))
        return value

    def corner(self, n: int, weights: Sequence[float] | None = None) -> int:
        """The same."""
        return self.index(n, weights)


def minimise(choices: Sequence[Choice], stands: Callable[[Source], bool]) -> list[Choice]:
    """The simplest choices found for which `stands` is true; none where the given ones do not even stand.

    `stands` draws from the source that it is given and judges what it drew. What it raises ends the search and is
    raised here: so a deadline is its own affair, and so is keeping what stood before. Raises UnavailableError where
    Hypothesis is not as expected.
    """
    check_available()
    return _minimise(choices, stands)


@lru_cache
def check_available() -> None:
    """Shrink an example whose minimum is known; raises UnavailableError where something else comes of it."""
    simplest: list[bool | int | float] = [10, True, 2.0, 1]

    def stands(source: Source) -> bool:
        whole, flag = source.integer(0, 1000), source.boolean()
        return source.floating(-8.0, 8.0) >= 2 and source.index(3, (1.0, 0.0, 0.0)) >= 1 and whole >= 10 and flag

    given = [
        Choice("integer", 777, 0, 1000),
        Choice("boolean", True),
        Choice("floating", 3.7, -8.0, 8.0),
        Choice("index", 2, n=3),
    ]
    try:
        result: object = [choice.value for choice in _minimise(given, stands)]
    except _CHANGED as error:
        result = f"{type(error).__name__}: {error}"
    if result != simplest:
        raise UnavailableError(
            f"Hypothesis {version('hypothesis')} shrinks a known example to {result}, but should to {simplest}; "
            "install the version that constraints.txt names"
        )


def _minimise(choices: Sequence[Choice], stands: Callable[[Source], bool]) -> list[Choice]:
    from hypothesis import HealthCheck, Phase, settings
    from hypothesis.internal.conjecture.engine import ConjectureRunner, RunIsComplete
    from hypothesis.internal.escalation import InterestingOrigin

    stood: list[list[Choice]] = []
    origin = InterestingOrigin(AssertionError, "", 0, (), ())

    def run(data: ConjectureData) -> None:
        source = HypothesisSource(data)
        if stands(source):
            stood.append(source.choices)
            data.mark_interesting(origin)

    asked = settings(
        database=None,
        deadline=None,
        max_examples=1,
        phases=[Phase.shrink],
        suppress_health_check=list(HealthCheck),
        derandomize=False,
    )
    runner = ConjectureRunner(run, settings=asked, random=Random(0))
    try:
        runner.cached_test_function([choice.value for choice in choices])
        runner.shrink_interesting_test_cases()
    except RunIsComplete:  # it has shrunk enough, or nothing stood
        pass
    best = runner.interesting_test_cases.get(origin)
    if best is None:
        return []
    values = list(best.choices)
    # NaN apart, which no draw gives, equal choices are the same choices.
    return next(chosen for chosen in reversed(stood) if [choice.value for choice in chosen] == values)


def _refuse_empty(low: float, high: float, name: str) -> None:
    if not low < high:
        raise RangeError(f"low={low}, but should be below high={high} [{name}({low}, {high})]")


__all__ = ["HypothesisSource", "UnavailableError", "check_available", "minimise"]
