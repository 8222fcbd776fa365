"""The source of a laid-out case: each decision among a few outcomes is a factor, at the level that a design asks for.

What a search draws is left to chance: of 20 cases three may lie transposed and none have a NaN *and* a dimension of
size 1. A design decides that instead. Generators do not know: they ask their source as ever.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from generators.layouts import LAYOUTS
from generators.mixes import LAID_OUT
from generators.source import Choice, PhiloxSource

#: Integers of a wider range are none of the test's arguments, but seeds.
MOST_VALUES: Final = 1 << 16
#: Of a range of so many integers each is a level, of a wider one its ends, 0 and 1.
LISTED: Final = 8
#: Of more alternatives than this none is asked for: a case draws them.
MOST_ALTERNATIVES: Final = 16

Value = int | float | None


class Factor(NamedTuple):
    """A decision of a case: which kind of draw from what, and which of those that are like it (`turn`, from 0)."""

    kind: str
    span: tuple[float, ...]
    turn: int


class LaidOutSource:
    """A `Source` whose factors have the levels of a design; level 0 is the ordinary one, and that of all others.

    What is no factor, and the level "drawn", follows the key.

    Attributes:
        taken: the level that each factor has had so far and how many it has, in the order of their draws.
    """

    __slots__ = ("_rest", "_turns", "_wanted", "choices", "taken")

    def __init__(self, key: str, wanted: Mapping[Factor, int]) -> None:
        """Takes the levels that differ from 0; a level beyond a factor's last is its last."""
        self._rest = PhiloxSource(key)
        self._wanted = wanted
        self._turns: Counter[tuple[str, tuple[float, ...]]] = Counter()
        self.choices: list[Choice] = self._rest.choices
        self.taken: dict[Factor, tuple[int, int]] = {}

    def integer(self, low: int, high: int) -> int:
        """An integer of [low, high): each of a few, the middle one first; of more a drawn one, the ends, 0 and 1."""
        if not 1 < high - low <= MOST_VALUES:
            return self._rest.integer(low, high)
        value = self._level("integer", (low, high), _integers(low, high))
        if value is None:
            return self._rest.integer(low, high)
        self.choices.append(Choice("integer", int(value), low, high))
        return int(value)

    def boolean(self) -> bool:
        """False, then True."""
        value = bool(self._level("boolean", (), (0, 1)))
        self.choices.append(Choice("boolean", value))
        return value

    def floating(self, low: float, high: float) -> float:
        """A drawn float of [low, high), the least, the greatest, 0 and 1."""
        if not -math.inf < low < high < math.inf:
            return self._rest.floating(low, high)
        value = self._level("floating", (low, high), _floats(float(low), float(high)))
        if value is None:
            return self._rest.floating(low, high)
        self.choices.append(Choice("floating", value, float(low), float(high)))
        return value

    def index(self, n: int, weights: Sequence[float] | None = None) -> int:
        """Each of 0 ... n - 1 that has a weight, the heaviest first."""
        return self._alternative("index", n, weights)

    def corner(self, n: int, weights: Sequence[float] | None = None) -> int:
        """The same, as a factor of a kind of its own."""
        return self._alternative("corner", n, weights)

    def _alternative(self, kind: str, n: int, weights: Sequence[float] | None) -> int:
        allowed = range(n) if weights is None else [i for i in range(n) if weights[i] > 0]
        if not 1 < len(allowed) <= MOST_ALTERNATIVES:
            return self._rest.index(n, weights)
        levels = tuple(allowed) if weights is None else _heaviest_first(allowed, weights)
        value = self._level(kind, (n, *(weights or ())), levels)
        assert value is not None
        self.choices.append(Choice("index", int(value), n=n))
        return int(value)

    def _level(self, kind: str, span: tuple[float, ...], levels: Sequence[Value]) -> Value:
        turn = self._turns[kind, span]
        self._turns[kind, span] += 1
        factor = Factor(kind, span, turn)
        level = min(self._wanted.get(factor, 0), len(levels) - 1)
        self.taken[factor] = (level, len(levels))
        return levels[level]


def transposed(factors: Iterable[Factor]) -> Iterator[tuple[Factor, int]]:
    """For each tensor whose layout is open, the level at which it lies transposed."""
    weights = LAID_OUT.layouts
    assert weights is not None
    level = _heaviest_first(range(len(LAYOUTS)), weights).index(LAYOUTS.index("transposed"))
    for factor in factors:
        if factor.kind == "corner" and factor.span == (len(LAYOUTS), *weights):
            yield factor, level


def _heaviest_first(allowed: Iterable[int], weights: Sequence[float]) -> tuple[int, ...]:
    return tuple(sorted(allowed, key=lambda i: -weights[i]))


def _integers(low: int, high: int) -> tuple[Value, ...]:
    if high - low <= LISTED:
        middle = (low + high - 1) // 2
        return tuple(sorted(range(low, high), key=lambda value: (abs(value - middle), value)))
    inside = (value for value in (0, 1) if low < value < high - 1)
    return (None, low, high - 1, *inside)


def _floats(low: float, high: float) -> tuple[Value, ...]:
    last = math.nextafter(high, low)
    inside = (value for value in (0.0, 1.0) if low < value < last)
    return (None, low, last, *inside)
