"""Tensor values as two choices: how they are filled, and a seed.

`FILLS` runs from simple to wild, so that shrinking a case also calms its values; "distinct" is none of them, for it is
asked for and never drawn. Every fill but "edge" stays in [low, high) where the dtype has values there; "sprinkled" and
"distinct" do unless they are told that the range is no bound.
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generators import checks
from generators.dtypes import DTYPES, Dtype, dtype_name, round_to_bfloat16
from generators.errors import RangeError
from generators.source import UNIT, words

Words = NDArray[np.uint64]
Flat = NDArray[Any]

# Half the width of the small integers around the one nearest to 0.
SMALL: Final = 4
LOW_HALF: Final = np.uint64(0xFFFFFFFF)
HALF: Final = np.uint64(32)
# A word less these bits has 53, as many as a float64 holds.
MANTISSA: Final = np.uint64(11)
# Where activations bend, and what rounds in two ways.
KINKS: Final = (0.0, 1.0, -1.0, 3.0, -3.0, 6.0)
# "sprinkled" replaces one element in so many, but at least one.
RARE: Final = 8
# "ties" has so many different values.
TIED: Final = 3
#: Fills that put one kind of corner among uniform values.
CORNERS: Final = ("nan", "infinities", "signed_zeros", "subnormals", "greatest", "ends")
# "far" has these powers of two.
FAR: Final = (2.0, 20.0)
# The stream of a seed that "sprinkled" takes its places from; its values come from the seed's own.
SECOND: Final = 1 << 127


class Limits(NamedTuple):
    """The values of a dtype in a range: `first` is the least and `last` the greatest; both belong to it."""

    first: int | float
    last: int | float

    def nearest(self, value: int) -> int | float:
        """The value of the range that lies nearest to `value`."""
        return min(max(value, self.first), self.last)


def fill_values(
    fill: str,
    seed: int,
    shape: Sequence[int],
    dtype: object,
    low: float = 0,
    high: float = 1,
    where: object = None,
    bounded: bool = True,
) -> NDArray[Any]:
    """An array of `shape`, C-contiguous and in its own memory, that depends on nothing but the arguments.

    Fills:
        zeros, ones: the value of [low, high) nearest to 0 or 1.
        small_integers: up to nine integers around the one nearest to 0, or the zeros if the range has no integer.
        uniform: [low, high), after rounding to the dtype too.
        ties: at most three different uniform values.
        halves: integers, halves and kinks of the range around the one nearest to 0, for integers as small_integers.
        sprinkled: uniform, but one element in eight, and at least one, is special: a kink or an end of the range if it
            is `bounded`, else NaN, an infinity, -0.0, a subnormal, tiny or huge value (huge once at most: two overflow
            together or not, as they are summed), for integers an extreme or what a float cannot hold.
        edge: special values alone, whatever the range.
        far: from 4 to 2**20 away from 0, to either side, as likely in each power of two; less far where the dtype ends.
        lowest: minus infinity alone, of an integer dtype its least value but one.
        distinct: no two alike. The range is cut into as many equal parts as there are elements, and each part gives
            one; unless the range is `bounded`, one element in eight, and at least one, is special.

        nan, infinities, signed_zeros, subnormals, greatest, ends: uniform, but one element in eight, and at least one,
            is NaN, an infinity (both where there are several), 0.0 or -0.0, the least subnormal or its negative, the
            greatest finite value (once), the greatest or the least of the range. Of an integer dtype they are the first
            value above the range, the ends of the dtype, the last one below the range, what a float cannot hold, the
            greatest value of half as many bits, and the ends of the range: an index beyond its range is to be refused.

    No integer is the least of its dtype: dividing that by -1 ends the process. The parts of a complex value are filled
    each for itself ("ones" has imaginary parts nearest to 0); bool ignores the range.

    `seed` is in [0, 2**128). RangeError if the fill is unknown, or the range holds no value of the dtype, or not so
    many, or the shape wants more memory than this machine can give; `where` is the call that the sentence names.
    """
    kind = DTYPES[dtype_name(dtype)]
    where = f"fill_values({fill!r}, dtype={kind.name!r})" if where is None else where
    if fill not in _FILLERS:
        raise RangeError(f"fill={fill!r}, but should be one of {', '.join(_FILLERS)} [{where!s}]")
    low, high = checks.number(low, "low", where), checks.number(high, "high", where)
    checks.ordered(low, high, where)
    limits = _limits(kind.name, low, high)
    if limits is None:
        raise RangeError(f"low={low}, but should leave a value of {kind.name} below high={high} [{where!s}]")
    checks.fitting(shape, np.dtype(kind.storage).itemsize, where)
    out: NDArray[Any] = np.empty(shape, kind.storage)
    parts = out.reshape(-1)
    if kind.category == "complex":
        parts = parts.view(_part(kind))
    # Filling the flat view in place converts, and the result still owns its memory.
    parts[...] = _FILLERS[fill](_Task(kind, limits, seed, parts.size, bounded))
    if fill == "distinct" and len(np.unique(out)) < out.size:
        if kind.category == "bool":
            raise RangeError(f"{out.size} distinct values are wanted, but bool has two [{where!s}]")
        raise RangeError(
            f"low={low}, but should leave {out.size} distinct values of {kind.name} below high={high} [{where!s}]"
        )
    return out


class _Task(NamedTuple):
    """What a filler needs to know: `amount` real numbers (two for each complex value)."""

    dtype: Dtype
    limits: Limits
    seed: int
    amount: int
    bounded: bool

    def below(self, span: int) -> Words:
        """Integers of [0, span)."""
        return scale_words(words(self.seed, self.amount), span)


def scale_words(raw: Words, span: int) -> Words:
    """Raw words as integers of [0, span), span at most 2**64: the upper 64 bits of `word * span`.

    No word is rejected, so the bias is span / 2**64; nobody sees it in a tensor.
    """
    if span == 1 << 64:
        return raw
    upper, lower = raw >> HALF, raw & LOW_HALF
    if span <= 1 << 32:
        narrow = np.uint64(span)
        scaled: Words = (upper * narrow + ((lower * narrow) >> HALF)) >> HALF
        return scaled
    # Schoolbook multiplication by halves; no partial sum exceeds 64 bits.
    span_upper, span_lower = np.uint64(span >> 32), np.uint64(span & 0xFFFFFFFF)
    left, right = upper * span_lower, lower * span_upper
    carry = ((lower * span_lower) >> HALF) + (left & LOW_HALF) + (right & LOW_HALF)
    product: Words = upper * span_upper + (left >> HALF) + (right >> HALF) + (carry >> HALF)
    return product


#: The first integers that float32 and float64 cannot hold.
_UNHELD: Final = (2**24 + 1, 2**53 + 1)


def edge_values(dtype: Dtype) -> Flat:
    """The values at which kernels of this dtype go wrong, real parts alone for a complex dtype."""
    part = _part(dtype)
    if dtype.category == "bool":
        return np.array([False, True])
    if dtype.category == "integer":
        info = np.iinfo(part)
        # Not the least: PyTorch's `div(x, -1, rounding_mode="trunc")` of it ends the process (SIGFPE).
        values = {info.min + 1, -1, 0, 1, info.max - 1, info.max, *_UNHELD, *(-value for value in _UNHELD)}
        return np.array(sorted(value for value in values if info.min <= value <= info.max), dtype=part)
    tiny, subnormal, huge = float_facts(dtype)
    signed = [0.0, subnormal, tiny, 1.0, math.sqrt(huge), huge, math.inf]
    return _rounded(np.array([math.nan, *signed, *(-value for value in signed)]), dtype)


def _zeros(task: _Task) -> Any:
    return task.limits.nearest(0)


def _ones(task: _Task) -> Any:
    if task.dtype.category != "complex":
        return task.limits.nearest(1)
    parts = np.empty(task.amount)
    parts[0::2] = task.limits.nearest(1)
    parts[1::2] = task.limits.nearest(0)
    return parts


def _small_integers(task: _Task) -> Any:
    least, greatest = math.ceil(task.limits.first), math.floor(task.limits.last)
    if least > greatest:
        return _zeros(task)
    centre = min(max(0, least), greatest)
    start, stop = max(least, centre - SMALL), min(greatest, centre + SMALL)
    return _integers(task, start, stop)


def _uniform(task: _Task) -> Any:
    first, last = task.limits.first, task.limits.last
    if task.dtype.category in ("integer", "bool"):
        return _integers(task, int(first), int(last))
    values: NDArray[np.float64] = (words(task.seed, task.amount) >> MANTISSA) * UNIT
    width = last - first
    # No sum rounds past `last`: the greatest factor is 1 - 2**-53, so the product is at least one float64
    # below the rounded width, and with that not above the exact one.
    if width < math.inf:
        values *= width
        if first:
            values += first
    else:  # the width overflows; the weighted mean does not
        values = first * (1.0 - values) + last * values
    return _rounded(values, task.dtype)


def _ties(task: _Task) -> Any:
    if task.dtype.category == "bool":
        return _uniform(task)
    tied = _uniform(task._replace(amount=TIED))
    return tied[_places(task, SECOND, TIED)]


def _halves(task: _Task) -> Any:
    if task.dtype.category in ("integer", "bool"):
        return _small_integers(task)
    return _picked(task, _landmarks(task))


def _sprinkled(task: _Task) -> Any:
    values = _uniform(task)
    if task.dtype.category == "bool" or not task.amount:
        return values
    raw = words(task.seed ^ SECOND, 2 * task.amount + 1)
    rare = scale_words(raw[: task.amount], RARE) == 0
    rare[int(raw[-1]) % task.amount] = True
    special = _landmarks(task, ends=True) if task.bounded else _specials(task.dtype)
    chosen = special[scale_words(raw[task.amount : -1], len(special)).astype(np.intp)]
    if task.dtype.category != "integer":
        # Rounded as the values are: bfloat16's root of its greatest value lies below the exact one.
        least = _rounded(np.array([math.sqrt(float_facts(task.dtype)[2])]), task.dtype)[0]
        huge = np.flatnonzero(rare & (np.abs(chosen) >= least) & np.isfinite(chosen))
        rare[huge[1:]] = False
    return np.where(rare, chosen, values)


def _edge(task: _Task) -> Any:
    return _picked(task, edge_values(task.dtype))


def _strewn(what: str) -> Callable[[_Task], Any]:
    """A filler that puts the corners of one kind among uniform values."""

    def fill(task: _Task) -> Any:
        values = _uniform(task)
        if task.dtype.category == "bool" or not task.amount:
            return values
        corners = _integer_corners(task, what) if task.dtype.category == "integer" else _float_corners(task, what)
        raw = words(task.seed ^ SECOND, task.amount)
        # The elements with the least words are the special ones; they take the corners in turn.
        places = np.argsort(raw, kind="stable")[: max(1, task.amount // RARE)]
        if what == "greatest" and task.dtype.category != "integer":
            places = places[:1]  # two of them overflow together or not, as they are summed
        values = np.array(values, dtype=np.result_type(values, corners))
        values[places] = np.resize(corners, len(places))
        return values

    return fill


def _float_corners(task: _Task, what: str) -> Flat:
    _, subnormal, huge = float_facts(task.dtype)
    corners = {
        "nan": [math.nan],
        "infinities": [math.inf, -math.inf],
        "signed_zeros": [-0.0, 0.0],
        "subnormals": [subnormal, -subnormal],
        "greatest": [huge],
        "ends": [task.limits.last, task.limits.first],
    }
    return _rounded(np.array(corners[what], dtype=np.float64), task.dtype)


def _integer_corners(task: _Task, what: str) -> Flat:
    info = np.iinfo(task.dtype.storage)
    corners: dict[str, list[int]] = {
        "nan": [int(task.limits.last) + 1],
        "infinities": [info.max, info.min + 1],
        "signed_zeros": [int(task.limits.first) - 1],
        "subnormals": [*_UNHELD, *(-value for value in _UNHELD)],
        "greatest": [math.isqrt(info.max), -math.isqrt(info.max)],
        "ends": [int(task.limits.last), int(task.limits.first)],
    }
    held = [value for value in corners[what] if info.min < value <= info.max]
    return np.array(held or [info.max], dtype=task.dtype.storage)


def _far(task: _Task) -> Any:
    if task.dtype.category == "bool":
        return _uniform(task)
    greatest = np.iinfo(task.dtype.storage).max if task.dtype.category == "integer" else float_facts(task.dtype)[2]
    last = min(FAR[1], math.log2(greatest) - 0.5)
    sizes = 2.0 ** (FAR[0] + (last - FAR[0]) * ((words(task.seed, task.amount) >> MANTISSA) * UNIT))
    negative = scale_words(words(task.seed ^ SECOND, task.amount), 2).astype(bool)
    if task.dtype.category == "integer":
        unsigned = np.iinfo(task.dtype.storage).min == 0
        return np.where(negative & (not unsigned), -sizes, sizes).astype(task.dtype.storage)
    return _rounded(np.where(negative, -sizes, sizes), task.dtype)


def _lowest(task: _Task) -> Any:
    if task.dtype.category in ("integer", "bool"):
        signed = task.dtype.category == "integer" and np.iinfo(task.dtype.storage).min < 0
        return np.full(task.amount, -np.iinfo(task.dtype.storage).max if signed else 0, task.dtype.storage)
    return np.full(task.amount, -math.inf)


def _distinct(task: _Task) -> Any:
    first, last = task.limits
    order = np.argsort(words(task.seed ^ SECOND, task.amount), kind="stable")
    if task.dtype.category in ("integer", "bool"):
        span = int(last) - int(first) + 1
        ends = [int(first) + part * span // task.amount for part in range(task.amount + 1)] if task.amount else [0]
        within = words(task.seed, task.amount).tolist()
        parts = [start + word % max(end - start, 1) for start, end, word in zip(ends, ends[1:], within, strict=False)]
        values = np.array(parts, dtype=task.dtype.storage)[order]
    else:
        # Not from the ends of a part: two neighbours stay apart when they are rounded.
        within = 0.25 + 0.5 * ((words(task.seed, task.amount) >> MANTISSA) * UNIT)
        share = (order + within) / max(task.amount, 1)
        values = _rounded(first * (1.0 - share) + last * share, task.dtype)
    if task.bounded or not task.amount:
        return values
    special = edge_values(task.dtype)
    special = special[~(((special == 0) & np.signbit(special)) | np.isin(special, values))]
    chosen = special[np.argsort(words(task.seed, len(special)), kind="stable")][: -(-task.amount // RARE)]
    values[np.argsort(order, kind="stable")[: len(chosen)]] = chosen
    return values


def _specials(dtype: Dtype) -> Flat:
    """What "sprinkled" strews in where the range is no bound; NaN, infinities and -0.0 most of all."""
    if dtype.category == "integer":
        return edge_values(dtype)
    _, subnormal, huge = float_facts(dtype)
    often = [*[math.nan] * 3, *[math.inf, -math.inf] * 2, *[-0.0] * 3]
    return np.concatenate([_rounded(np.array([*often, -1.0, -subnormal, -huge]), dtype), edge_values(dtype)[1:7]])


def _landmarks(task: _Task, ends: bool = False) -> Flat:
    """Integers, halves and kinks of the range near 0, with its ends if asked or where it has nothing else."""
    first, last = task.limits
    if task.dtype.category == "integer":
        landmarks = [float(x) for x in KINKS if first <= x <= last]
        return np.array([*map(int, landmarks), first, last], dtype=task.dtype.storage)
    centre = round(task.limits.nearest(0))
    steps = (np.arange(-2 * SMALL, 2 * SMALL + 1) / 2 + centre).tolist()
    landmarks = [x for x in dict.fromkeys([*KINKS, *steps]) if first <= x <= last]
    if first < 0 <= last:
        landmarks += [-0.0] * (1 + len(landmarks) // 4)
    if ends or not landmarks:
        landmarks += [first, last]
    return _rounded(np.array(landmarks), task.dtype)


def _picked(task: _Task, values: Flat) -> Flat:
    chosen: Flat = values[_places(task, 0, len(values))]
    return chosen


def _places(task: _Task, stream: int, span: int) -> NDArray[np.intp]:
    """Indices of [0, span), from the seed's own stream or another."""
    return scale_words(words(task.seed ^ stream, task.amount), span).astype(np.intp)


def _integers(task: _Task, start: int, stop: int) -> Flat:
    """Integers of [start, stop], both included, as floats if the dtype holds floats."""
    offsets = task.below(stop - start + 1)
    if task.dtype.category in ("integer", "bool"):
        # Two's complement: adding modulo 2**64 and reading the bits as signed is exact for every range.
        return (offsets + np.uint64(start % (1 << 64))).view(np.int64)
    return _rounded(offsets.astype(np.float64) + float(start), task.dtype)


_FILLERS: Final = MappingProxyType[str, Callable[[_Task], Any]](
    {
        "zeros": _zeros,
        "ones": _ones,
        "small_integers": _small_integers,
        "uniform": _uniform,
        "ties": _ties,
        "halves": _halves,
        "sprinkled": _sprinkled,
        "edge": _edge,
        "distinct": _distinct,
        **{corner: _strewn(corner) for corner in CORNERS},
        "far": _far,
        "lowest": _lowest,
    }
)
FILLS: Final = tuple(_FILLERS)[:8]
#: The values that a laid-out case can have, the ordinary ones first; ...
LAID_OUT: Final = ("uniform", *CORNERS, "ties", "halves", "zeros", "far", "lowest")
#: ... where no two may be equal; ...
LAID_OUT_DISTINCT: Final = ("distinct", *CORNERS)
#: ... and of integers whose range was given: they are indices and sizes, of which some ops trust their caller.
LAID_OUT_RANGED: Final = ("uniform", "ends", "ties", "zeros")
LAID_OUT_RANGED_DISTINCT: Final = ("distinct", "ends")


@lru_cache(maxsize=256)
def _limits(name: str, low: float, high: float) -> Limits | None:
    """The values of the dtype in [low, high), None without any; cached, as it costs as much as a fill."""
    dtype = DTYPES[name]
    if dtype.category == "bool":
        return Limits(0, 1)
    if dtype.category == "integer":
        info = np.iinfo(dtype.storage)
        first: int | float = max(math.ceil(low), int(info.min))
        last: int | float = min(math.ceil(high) - 1, int(info.max))
    else:
        huge = float_facts(dtype)[2]
        if low > huge or high <= -huge:
            return None
        first = -huge if low < -huge else _onto(dtype, float(low), up=True)
        last = huge if high > huge else _onto(dtype, math.nextafter(float(high), -math.inf), up=False)
    return Limits(first, last) if first <= last else None


def _onto(dtype: Dtype, value: float, up: bool) -> float:
    """The value of a floating dtype next to `value`, at most its largest: not below it, or not above."""
    rounded = float(_rounded(np.array([value]), dtype)[0])
    if (rounded < value) if up else (rounded > value):
        target = math.inf if up else -math.inf
        if dtype.name == "bfloat16":
            return _next_bfloat16(rounded, target)
        part = _part(dtype).type
        return float(np.nextafter(part(rounded), part(target)))
    return rounded


def _next_bfloat16(value: float, target: float) -> float:
    if value == 0:
        return math.copysign(2.0**-133, target)
    bits = int(np.float32(value).view(np.uint32))
    bits += 0x10000 if (value > 0) == (target > 0) else -0x10000
    return float(np.uint32(bits).view(np.float32))


def _rounded(values: NDArray[np.float64], dtype: Dtype) -> Flat:
    """float64 values rounded to the parts of the dtype."""
    if dtype.name == "bfloat16":
        return round_to_bfloat16(values.astype(np.float32))
    return values.astype(_part(dtype), copy=False)


def _part(dtype: Dtype) -> np.dtype[Any]:
    """The NumPy dtype of one real number of the dtype."""
    if dtype.category == "complex":
        return np.dtype(np.float32 if dtype.name == "complex64" else np.float64)
    return dtype.storage


def float_facts(dtype: Dtype) -> tuple[float, float, float]:
    """The least normal, the least subnormal and the greatest finite value, of the parts of a complex dtype."""
    if dtype.name == "bfloat16":
        return 2.0**-126, 2.0**-133, (2 - 2.0**-7) * 2.0**127
    info = np.finfo(_part(dtype))
    return float(info.tiny), float(info.smallest_subnormal), float(info.max)
