"""Agreement of two arrays, element by element, within a tolerance."""

from __future__ import annotations

from typing import Any

import numpy as np

from autotest.compare.tolerance import Tolerance
from dual_object.program.values import Array

#: The greatest number of float64.
GREATEST = float(np.finfo(np.float64).max)


def close(expected: Array, actual: Array, allowed: Tolerance) -> bool:
    """Whether values agree: NaN where NaN, the same infinity where infinite, else within tolerance."""
    if expected.dtype == actual.dtype and expected.tobytes() == actual.tobytes():
        return True
    return bool(agreeing(expected, actual, allowed).all())


def agreeing(expected: Array, actual: Array, allowed: Tolerance) -> Array:
    """Elementwise agreement of two arrays of one shape."""
    if expected.dtype.kind in "bui" and actual.dtype.kind in "bui":
        exact: Array = np.asarray(expected == actual)
        return exact
    left, right = wide(expected), wide(actual)
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(right - left) <= allowed.atol + allowed.rtol * np.abs(left)
        near &= np.isfinite(left)
        if left.dtype.kind == "c" or right.dtype.kind == "c":
            # Part by part: `inf+1j` is not `1+infj`, nor `nan+1j` the NaN of `nan+2j`. Zeros keep no sign: the product
            # of two complex numbers gives it to neither part for certain.
            allowed = allowed._replace(signed=False)
            parts = agreeing(left.real, right.real, allowed) & agreeing(left.imag, right.imag, allowed)
            return np.asarray(near | parts)
        agree: Array = np.asarray(near | (left == right) | (np.isnan(left) & np.isnan(right)))
        if allowed.signed:
            agree &= ~zeros_apart(left, right)
    return agree


def short(value: Any) -> Any:
    """A NumPy scalar as the Python number with the fewest digits that still means it."""
    return float(str(value)) if isinstance(value, np.floating) else value.item()


def in_digits(value: float) -> float:
    """A finite number in four digits. The greatest one of float64 stays as it is, for in fewer it is an infinity."""
    return min(max(float(f"{value:.4g}"), -GREATEST), GREATEST)


def zeros_apart(left: Array, right: Array) -> Array:
    """Where both are zero, of opposite signs; of complex numbers nowhere, for no operation promises theirs."""
    if left.dtype.kind == "c" or right.dtype.kind == "c":
        return np.zeros(left.shape, bool)
    return np.asarray((left == 0) & (right == 0) & (np.signbit(left) != np.signbit(right)))


def wide(array: Array) -> Array:
    """The values in float64, where they are not complex."""
    if array.dtype.kind == "c":
        return array
    with np.errstate(invalid="ignore"):  # memory that nobody wrote may hold a signalling NaN
        return array.astype(np.float64)
