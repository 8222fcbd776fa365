"""The one source of randomness: four kinds of draw, each recorded as a plain choice.

NumPy promises stable streams only for its bit generators, not for the distributions built on them. So
`PhiloxSource` takes Philox's raw 64-bit words and turns them into numbers by its own two functions: the same
key gives the same draws on every machine and with every NumPy.
"""

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple, NoReturn, Protocol

import numpy as np
from numpy.random import Philox
from numpy.random.bit_generator import ISeedSequence
from numpy.typing import NDArray

from generators.checks import empty_range, finite
from generators.errors import ChoiceError, RangeError

WORD: Final = 1 << 64
MASK: Final = WORD - 1
UNIT: Final = 2.0**-53
# A case draws some 5 to 40 words; fetching 32 costs 1.2 microseconds, fetching one 0.5.
BLOCK: Final = 32


class Choice(NamedTuple):
    """One recorded draw, in plain Python values: what was drawn, and from where."""

    kind: Literal["integer", "boolean", "floating", "index"]
    value: int | float
    low: int | float | None = None
    high: int | float | None = None
    n: int | None = None


class Source(Protocol):
    """Where generators get their decisions from; whoever draws sees only these five methods.

    Every draw is appended to `choices`, in order. An implementation may pick any allowed value: `weights` are
    a wish that a search obeys and a shrinker ignores.
    """

    choices: list[Choice]

    def integer(self, low: int, high: int) -> int:
        """An integer of [low, high), at most 2**64 wide; RangeError when empty or wider."""
        ...

    def boolean(self) -> bool:
        """A fair coin."""
        ...

    def floating(self, low: float, high: float) -> float:
        """A float of [low, high), uniform; RangeError when empty or not finite."""
        ...

    def index(self, n: int, weights: Sequence[float] | None = None) -> int:
        """One of 0 ... n - 1, by `weights` (uniform without); ChoiceError if they are none."""
        ...

    def corner(self, n: int, weights: Sequence[float] | None = None) -> int:
        """The same, where it is decided how an input looks (its values, sizes, layout), not what a call is given."""
        ...


def case_key(seed: int, test: str, index: int) -> str:
    """The key of a case: run seed, `file name::qualified test name[params]`, index in its test."""
    return f"{seed}/{test}/{index}"


def words(key: int, count: int) -> NDArray[np.uint64]:
    """The first `count` raw 64-bit words of the stream of a key in [0, 2**128)."""
    raw: NDArray[np.uint64] = _philox(key).random_raw(count)
    return raw


class PhiloxSource:
    """The `Source` of a search: a counter-based stream that is a pure function of the text `key`."""

    __slots__ = ("_word", "choices")

    def __init__(self, key: str) -> None:
        """Takes the key; no word is computed before the first draw."""
        self.choices: list[Choice] = []
        digest = hashlib.sha256(key.encode()).digest()
        self._word: Callable[[], int] = _stream(int.from_bytes(digest[:16], "little")).__next__

    def integer(self, low: int, high: int) -> int:
        """An integer of [low, high), unbiased, at most 2**64 wide; RangeError when empty or wider."""
        span = high - low
        if not 0 < span <= WORD:
            _refuse_integers(low, high)
        value = low + self._below(span)
        self.choices.append(Choice("integer", value, low, high))
        return value

    def boolean(self) -> bool:
        """A fair coin."""
        value = self._word() >= WORD >> 1
        self.choices.append(Choice("boolean", value))
        return value

    def floating(self, low: float, high: float) -> float:
        """A float of [low, high), uniform; RangeError when empty or not finite."""
        if not -math.inf < low < high < math.inf:
            _refuse_floats(low, high)
        low, high = float(low), float(high)
        unit = (self._word() >> 11) * UNIT
        width = high - low
        # A width beyond the largest float overflows; the weighted mean does not.
        value = low + width * unit if width < math.inf else low * (1.0 - unit) + high * unit
        if value >= high:  # rounded up; the range is half-open
            value = math.nextafter(high, low)
        self.choices.append(Choice("floating", value, low, high))
        return value

    def index(self, n: int, weights: Sequence[float] | None = None) -> int:
        """One of 0 ... n - 1, by `weights` (uniform without); ChoiceError if they are none."""
        if n < 1:
            raise ChoiceError(f"n={n}, but should be at least 1 [index({n})]")
        value = self._below(n) if weights is None else self._weighted(n, weights)
        self.choices.append(Choice("index", value, n=n))
        return value

    def corner(self, n: int, weights: Sequence[float] | None = None) -> int:
        """The same: a search makes no difference."""
        return self.index(n, weights)

    def _below(self, span: int) -> int:
        """An unbiased integer of [0, span): multiply-shift, rejecting words that would favour some."""
        product = self._word() * span
        if product & MASK < span:
            threshold = (WORD - span) % span
            while product & MASK < threshold:
                product = self._word() * span
        return product >> 64

    def _weighted(self, n: int, weights: Sequence[float]) -> int:
        total = math.fsum(weights)
        if len(weights) != n or not 0 < total < math.inf or min(weights) < 0:
            raise ChoiceError(
                f"weights={tuple(weights)}, but should be {n} non-negative numbers, not all 0 [index({n})]"
            )
        point = (self._word() >> 11) * UNIT * total
        last = 0
        for position, weight in enumerate(weights):
            if weight:
                last = position
                if point < weight:
                    break
                point -= weight
        # Rounding can leave a rest after the last weight; `last` is then the last alternative that may be
        # drawn.
        return last


class _PhiloxKey(ISeedSequence):
    """Hands Philox a key as it is.

    `Philox(key=...)` gives the same stream but first collects entropy that it then throws away: 8.4
    microseconds against 2.8 this way.
    """

    def __init__(self, key: int) -> None:
        """Takes a key in [0, 2**128)."""
        self._key = key

    def generate_state(self, n_words: int, dtype: Any = np.uint64) -> NDArray[np.uint64]:
        """The key as two 64-bit words, low word first; Philox asks for nothing else."""
        return np.array([self._key & MASK, self._key >> 64], dtype=np.uint64)


def _philox(key: int) -> Philox:
    return Philox(_PhiloxKey(key))  # type: ignore[arg-type]  # NumPy takes any ISeedSequence; its stubs say less


def _stream(key: int) -> Iterator[int]:
    """The words of `key` one by one; nothing is computed before the first is taken."""
    philox = _philox(key)
    while True:
        yield from philox.random_raw(BLOCK).tolist()


def _refuse_integers(low: int, high: int) -> NoReturn:
    where = f"integer({low}, {high})"
    if high <= low:
        raise empty_range(low, high, where)
    raise RangeError(f"high - low={high - low}, but should be at most 2**64 [{where!s}]")


def _refuse_floats(low: float, high: float) -> NoReturn:
    where = f"floating({low}, {high})"
    raise empty_range(finite(low, "low", where), finite(high, "high", where), where)
