"""All checks of arguments: each takes `(value, name)` and the call that it belongs to.

`where` is the call that the sentence should name: its text, or a generator, which is rendered only when a
check fails.
"""

import functools
import math
import numbers
import os
from collections.abc import Sequence

import numpy as np

from generators.errors import ChoiceError, RangeError


def empty_range(low: float, high: float, where: object) -> RangeError:
    """The error for a range without a value in it."""
    return RangeError(f"{where!s}: the range [{low}, {high}) is empty, but low should be less than high")


def number(value: object, name: str, where: object) -> int | float:
    """`value` as a finite plain Python number (NumPy scalars are converted); RangeError if it is not one."""
    # Exact types first: asking an abstract class costs a microsecond, and a case asks some ten times.
    if type(value) is int or (type(value) is not float and isinstance(value, numbers.Integral)):
        return int(value)
    if type(value) is float or isinstance(value, numbers.Real):
        return finite(float(value), name, where)
    raise RangeError(f"{name}={value!r}, but should be a number [{where!s}]")


def finite(value: float, name: str, where: object) -> float:
    """`value` itself; RangeError if it is infinite or not a number."""
    if not math.isfinite(value):
        raise RangeError(f"{name}={value}, but should be finite [{where!s}]")
    return value


def integer(value: object, name: str, where: object, low: int, high: int | None = None) -> int:
    """`value` as a plain int of at least `low` and at most `high`; RangeError if it is not one."""
    plain = int(value) if type(value) is int or isinstance(value, numbers.Integral) else None
    if plain is None or plain < low or (high is not None and plain > high):
        wanted = f"an int of at least {low}" if high is None else f"an int from {low} to {high}"
        raise RangeError(f"{name}={value!r}, but should be {wanted} [{where!s}]")
    return plain


@functools.cache
def most_bytes() -> int:
    """What one array may take: an eighth of the machine's memory, for each side has it, and what is computed of it."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 8


def fitting(shape: Sequence[int], itemsize: int, where: object) -> None:
    """RangeError unless an array of `shape`, of so many bytes an element, may be made on this machine."""
    wanted = math.prod(shape) * itemsize
    if wanted > most_bytes():
        raise RangeError(
            f"the shape {tuple(shape)} takes {wanted / 2**30:,.1f} GiB, but should take at most "
            f"{most_bytes() / 2**30:,.1f} GiB, an eighth of this machine's memory [{where!s}]"
        )


def boolean(value: object, name: str, where: object) -> bool:
    """`value` as a plain bool; RangeError if it is not one."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise RangeError(f"{name}={value!r}, but should be True or False [{where!s}]")


def ordered(low: float, high: float, where: object) -> None:
    """RangeError unless `low < high`."""
    if not low < high:
        raise RangeError(f"low={low}, but should be less than high={high} [{where!s}]")


def weights(values: Sequence[float], count: int, name: str, where: object) -> tuple[float, ...]:
    """`values` as a tuple of `count` non-negative numbers that sum to 1 within 1e-6; else ChoiceError."""
    shares = tuple(values)
    if len(shares) != count:
        raise ChoiceError(f"{name}={shares!r}, but should have {count} entries [{where!s}]")
    if not all(weight >= 0 for weight in shares):
        raise ChoiceError(f"{name}={shares!r}, but should have no negative entry [{where!s}]")
    total = sum(shares)
    if not abs(total - 1) <= 1e-6:
        raise ChoiceError(f"{name}={shares!r}, but should sum to 1, not {total:.6g} [{where!s}]")
    return shares
