"""Agreement of two arrays: element by element, within a tolerance; and the words of those that do not agree."""

from __future__ import annotations

from typing import Any

import numpy as np

from autotest.compare.tolerance import Tolerance
from dual_object.program.values import Array


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
            agree &= ~_zeros_apart(left, right)
    return agree


def value_difference(expected: Array, actual: Array, allowed: Tolerance) -> tuple[str, str]:
    """Kind and words of two arrays of one shape that do not agree."""
    wrong = ~np.atleast_1d(agreeing(expected, actual, allowed))
    left, right = np.atleast_1d(wide(expected)), np.atleast_1d(wide(actual))
    if (wrong & _nonfinite_apart(left, right)).any():
        kind = "nonfinite"
    elif (wrong & _infinities_apart(left, right)).any() or (allowed.signed and _zeros_apart(left, right)[wrong].all()):
        kind = "sign"
    else:
        kind = "value"
    [first] = worst_first(expected, actual, allowed, 1)
    at = f"[{', '.join(map(str, first))}]" if first else ""
    plural = "element" if left.size == 1 else "elements"
    words = (
        f"differs in {int(wrong.sum())} of {left.size} {plural}: {at or 'it'} is {short(actual[first])!r}, "
        f"but should be {short(expected[first])!r}"
    )
    if kind == "value" and left.dtype.kind != "c" and expected.dtype.kind in "fc":
        words += f" (rtol={allowed.rtol:g}, atol={allowed.atol:g})"
    return kind, words


def worst_first(expected: Array, actual: Array, allowed: Tolerance, most: int) -> list[tuple[int, ...]]:
    """The indices of at most `most` elements that do not agree, by how far beyond the tolerance they are."""
    wrong = ~np.atleast_1d(agreeing(expected, actual, allowed))
    left, right = np.atleast_1d(wide(expected)), np.atleast_1d(wide(actual))
    finite = np.isfinite(left) & np.isfinite(right)
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.where(finite, np.abs(right - left), np.inf)
        # Where nothing is allowed, any error is infinitely beyond it: the tiny number keeps their order.
        beyond = error / (allowed.atol + allowed.rtol * np.abs(np.where(finite, left, 0)) + 1e-300)
    order = np.argsort(np.where(wrong, -beyond, 1.0), axis=None, kind="stable")[: min(most, int(wrong.sum()))]
    return [tuple(int(i) for i in np.unravel_index(flat, expected.shape)) if expected.ndim else () for flat in order]


def short(value: Any) -> Any:
    """A NumPy scalar as the Python number with the fewest digits that still means it."""
    return float(str(value)) if isinstance(value, np.floating) else value.item()


def _zeros_apart(left: Array, right: Array) -> Array:
    """Where both are zero, of opposite signs."""
    apart: Array = (left == 0) & (right == 0) & (np.signbit(left) != np.signbit(right))
    return apart


def _nonfinite_apart(left: Array, right: Array) -> Array:
    """Where only one side is NaN, or only one finite; of complex numbers, in one of their parts."""
    if left.dtype.kind == "c" or right.dtype.kind == "c":
        return _nonfinite_apart(left.real, right.real) | _nonfinite_apart(left.imag, right.imag)
    apart: Array = (np.isnan(left) != np.isnan(right)) | (np.isfinite(left) != np.isfinite(right))
    return apart


def _infinities_apart(left: Array, right: Array) -> Array:
    """Where both are infinite, of opposite signs; of complex numbers, in one of their parts."""
    if left.dtype.kind == "c" or right.dtype.kind == "c":
        return _infinities_apart(left.real, right.real) | _infinities_apart(left.imag, right.imag)
    apart: Array = np.isinf(left) & np.isinf(right) & (left != right)
    return apart


def wide(array: Array) -> Array:
    """The values in float64, where they are not complex."""
    if array.dtype.kind == "c":
        return array
    with np.errstate(invalid="ignore"):  # memory that nobody wrote may hold a signalling NaN
        return array.astype(np.float64)
