"""Indices into tensors: what they point to, and whether any come twice."""

from __future__ import annotations

import numpy as np

from autotest.compare.tolerance import Tolerance
from autotest.compare.values import agreeing
from autotest.oracle.spread import equal
from dual_object.program.values import Array


def pointed(data: Array, dim: int | None, indices: Array) -> Array | None:
    """The elements of `data` that `indices` along `dim` (None: into all of it) point to; None where they cannot be
    indices there. Of [[5, 7], [9, 8]] along dim 1, indices [1, 0] point to [7, 9].
    """
    if indices.dtype.kind not in "iu":
        return None
    if dim is None:
        size = data.size
        inside = bool(((indices >= 0) & (indices < size)).all())
        return data.reshape(-1)[indices] if inside else None
    along = indices if indices.ndim == data.ndim else np.expand_dims(indices, dim) if _reduces(indices, data) else None
    if along is None or not bool(((along >= 0) & (along < data.shape[dim])).all()):
        return None
    others = [axis for axis in range(data.ndim) if axis != dim]
    if any(along.shape[axis] != data.shape[axis] for axis in others):
        return None
    return np.take_along_axis(data, along, dim).reshape(indices.shape)


def _reduces(indices: Array, data: Array) -> bool:
    return indices.ndim == data.ndim - 1


def points_alike(pointed: Array | None, wanted: Array) -> bool:
    """Whether what indices point to is what they should point to; None is what are no indices."""
    return pointed is not None and bool(equal(pointed, wanted).all())


def orders(data: Array, dim: int | None, indices: Array) -> bool:
    """Whether `indices` put all of `data` along `dim` in order, up or down: of [7, 5, 9] it is [1, 0, 2]."""
    if dim is None or indices.shape != data.shape or not indices.size:
        return False
    places = np.expand_dims(np.arange(data.shape[dim]), [axis for axis in range(data.ndim) if axis != dim])
    if not bool((np.sort(indices, axis=dim) == places).all()):
        return False
    given, up = np.take_along_axis(data, indices, dim), np.sort(data, axis=dim)
    return any(bool(equal(given, row).all()) for row in (up, np.flip(up, dim)))


def rearranged(expected: Array, actual: Array, dim: int, allowed: Tolerance) -> Array:
    """Which elements are of a line along `dim` that has the same elements on both sides, in whatever order: [3, 1] and
    [1, 3] are.
    """
    alike = agreeing(np.sort(expected, axis=dim), np.sort(actual, axis=dim), allowed).all(axis=dim, keepdims=True)
    return np.broadcast_to(alike, expected.shape)


def distinct(indices: Array, dim: int) -> bool:
    """Whether no index comes twice along `dim`, in any row along it."""
    ordered = np.sort(indices, axis=dim)
    return indices.shape[dim] > 1 and not bool((np.diff(ordered, axis=dim) == 0).any())


__all__ = ["distinct", "orders", "pointed", "points_alike", "rearranged"]
