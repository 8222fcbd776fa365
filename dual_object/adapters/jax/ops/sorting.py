"""What is greatest, sorted or found by its place in an order."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from dual_object.adapters.jax.ops.shared import Array, Pair, axis, lifted
from dual_object.errors import UnmappedOp


def argsort(input: Array, dim: int = -1, descending: bool = False, stable: bool = False) -> Array:
    """The places of the elements in their order."""
    along = axis(input, dim)
    return jnp.argsort(lifted(input), axis=along, descending=descending, stable=True).reshape(input.shape)


def sort(input: Array, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Pair:
    """The elements in their order, and their places."""
    places = argsort(input, dim, descending)
    if not input.ndim:
        return Pair(input, places)
    return Pair(jnp.take_along_axis(input, places, axis(input, dim)), places)


def topk(input: Array, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Pair:
    """The greatest, or the least, and their places. Raises ValueError where there are not so many."""
    if not input.ndim:
        return Pair(input, jnp.zeros((), "int64"))
    along = axis(input, dim)
    if k > input.shape[along]:
        raise ValueError(f"k={k}, but should be {input.shape[along]} at most")
    found = sort(input, dim, largest)
    cut = tuple(slice(k) if place == along else slice(None) for place in range(input.ndim))
    return Pair(found.values[cut], found.indices[cut])


def searchsorted(
    sorted_sequence: Array, input: Any, *, out_int32: bool = False, right: bool = False, side: str | None = None
) -> Array:
    """Where a number would be inserted into a sorted row."""
    if sorted_sequence.ndim != 1:
        raise UnmappedOp("the dialect of jax searches in one row alone")
    found = jnp.searchsorted(sorted_sequence, jnp.asarray(input), side=side or ("right" if right else "left"))
    return found.astype("int32" if out_int32 else "int64")


def bincount(input: Array, weights: Array = None, minlength: int = 0) -> Array:
    """How often each number is there."""
    count = jnp.bincount(input, weights, minlength=minlength)
    return count if weights is not None else count.astype("int64")


__all__ = ["argsort", "bincount", "searchsorted", "sort", "topk"]
