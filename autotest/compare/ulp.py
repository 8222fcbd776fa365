"""Distances in units in the last place: how many numbers of a dtype lie between two values."""

from __future__ import annotations

import numpy as np

from dual_object.program.values import Array

#: The number of bits by which float32 is longer than a dtype whose values are held as float32.
_HELD_AS_FLOAT32 = {"bfloat16": 16}
_BITS = {2: np.int16, 4: np.int32, 8: np.int64}


def ulps(expected: Array, actual: Array, dtype: str) -> Array:
    """How many numbers of `dtype` lie between two arrays of one shape, element by element, as float64.

    0 where both are equal (0.0 and -0.0 are one apart), infinite where only one is finite, NaN where both are NaN.
    Both hold values of `dtype`, those of bfloat16 as float32. A complex distance is the greater of its parts'. Raises
    ValueError for a dtype without units in the last place.
    """
    if expected.dtype.kind == "c" or actual.dtype.kind == "c":
        part = {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
        left, right = np.asarray(expected, np.complex128), np.asarray(actual, np.complex128)
        return np.maximum(ulps(left.real, right.real, part), ulps(left.imag, right.imag, part))
    shift = _HELD_AS_FLOAT32.get(dtype, 0)
    kind = np.dtype(np.float32 if shift else dtype)
    if kind.kind != "f":
        raise ValueError(f"dtype={dtype!r}, but should be a floating point dtype [ulps]")
    with np.errstate(over="ignore", invalid="ignore"):
        left, right = np.asarray(expected, kind), np.asarray(actual, kind)
        places = _between(left, right, shift)
        finite = np.isfinite(left) & np.isfinite(right)
        equal = (left == right) & (np.signbit(left) == np.signbit(right))
        apart = np.where(finite, places, np.where(np.isnan(left) & np.isnan(right), np.nan, np.inf))
    return np.asarray(np.where(equal, 0.0, apart))


def _between(left: Array, right: Array, shift: int) -> Array:
    """How many steps lead from one value to the other, -0.0 lying just below 0.0; exact up to 2**53."""
    # In unsigned integers: as float64, the places of neighbours would be one and the same number.
    near, far = _magnitude(left, shift), _magnitude(right, shift)
    apart = np.maximum(near, far) - np.minimum(near, far)
    return np.where(np.signbit(left) == np.signbit(right), apart, near + far + np.uint64(1)).astype(np.float64)


def _magnitude(values: Array, shift: int) -> Array:
    """The place of each absolute value among all numbers of its dtype that are not negative."""
    bits = np.ascontiguousarray(values).view(_BITS[values.dtype.itemsize]).reshape(values.shape)
    return np.asarray((bits & np.iinfo(bits.dtype).max) >> shift, np.uint64)
