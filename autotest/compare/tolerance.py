"""How close is close enough: one table by dtype, overridden only by a test's own rtol and atol."""

from __future__ import annotations

from typing import NamedTuple

from autotest.errors import UsageError


class Tolerance(NamedTuple):
    """Values agree where |actual - expected| <= atol + rtol * |expected|. `signed`: 0.0 and -0.0 do not agree."""

    rtol: float
    atol: float
    signed: bool = False


EXACT = Tolerance(0.0, 0.0)

#: By (dtype, device type). Both sides round every operation on their own, and sums run in other orders: the relative
#: part allows some hundred units in the last place of the dtype (1.2e-7 for float32), the absolute part cancellation
#: around zero of values near one.
_TABLE = {
    ("float16", "cpu"): Tolerance(1e-2, 1e-3),  # 10 units of 9.8e-4
    ("bfloat16", "cpu"): Tolerance(5e-2, 1e-2),  # 6 units of 7.8e-3
    ("float32", "cpu"): Tolerance(1e-4, 1e-5),  # what two BLAS orders of a batch norm's variance need: up to 4e-5
    ("float64", "cpu"): Tolerance(1e-7, 1e-9),  # vectorised float64 functions differ by some 1e-9 where tables are used
    ("complex64", "cpu"): Tolerance(1e-4, 1e-5),  # as float32
    ("complex128", "cpu"): Tolerance(1e-7, 1e-9),  # as float64
    ("float16", "cuda"): Tolerance(1e-2, 2e-3),  # tensor cores accumulate in blocks
    ("bfloat16", "cuda"): Tolerance(5e-2, 1e-2),
    ("float32", "cuda"): Tolerance(1e-3, 1e-4),  # tf32 and atomic sums
    ("float64", "cuda"): Tolerance(1e-7, 1e-9),
    ("complex64", "cuda"): Tolerance(1e-3, 1e-4),
    ("complex128", "cuda"): Tolerance(1e-7, 1e-9),
}


def tolerance(dtype: str, device: str, rtol: float | None, atol: float | None) -> Tolerance:
    """The tolerance for a tensor: integers and booleans agree exactly; a test's own pair goes before the table."""
    row = _TABLE.get((dtype, device.partition(":")[0]))
    if row is None:
        return EXACT
    return row if rtol is None or atol is None else Tolerance(rtol, atol)


def widened(dtype: str, rtol: float | None, atol: float | None) -> tuple[float, float]:
    """The rtol and atol for values of any dtype that may have been computed in this one: a test's own, where they are
    wider.
    """
    row = _TABLE[dtype, "cpu"]
    return max(row.rtol, rtol or 0.0), max(row.atol, atol or 0.0)


def check_pair(rtol: float | None, atol: float | None, where: str) -> None:
    """Refuse half a tolerance, negative and non-finite ones; raises UsageError."""
    for name, value, other in (("rtol", rtol, "atol"), ("atol", atol, "rtol")):
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
            raise UsageError(f"{name}={value!r}, but should be a number of at least 0 [{where}]")
        if (rtol is None) != (atol is None):
            raise UsageError(
                f"{name}={value!r} is given alone, but should come with {other}: "
                f"pass both, or neither for the dtype's own [{where}]"
            )
