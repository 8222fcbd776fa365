"""Indexing, as PyTorch spells it, and writes to what an index names."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from dual_object.adapters.jax.ops.shared import Array, axis, lifted
from dual_object.errors import UnmappedOp


def _index(index: Any) -> Any:
    """An index of JAX: lists are arrays to it."""
    if isinstance(index, tuple):
        return tuple(_index(part) for part in index)
    return np.asarray(index) if isinstance(index, list) else index


def _checked(input: Array, index: Any) -> Any:
    """The index; raises IndexError for a number that JAX would move to the nearest place."""
    parts = index if isinstance(index, tuple) else (index,)
    counted = sum(1 for part in parts if part is not None and part is not Ellipsis and not isinstance(part, bool))
    place = 0
    for part in parts:
        if part is Ellipsis:
            place = input.ndim - (counted - place)
        elif type(part) is int:
            if place >= input.ndim or not -input.shape[place] <= part < input.shape[place]:
                raise IndexError(f"index={part} is out of bounds for dimension {place} of shape {input.shape}")
            place += 1
        elif part is not None and not isinstance(part, bool):
            place += getattr(part, "ndim", 1) if jnp.issubdtype(getattr(part, "dtype", int), jnp.bool_) else 1
    return _index(index)


def getitem(input: Array, index: Any) -> Array:
    """What an index names."""
    return input[_checked(input, index)]


def setitem(input: Array, index: Any, value: Any) -> Array:
    """With other values where an index says."""
    return input.at[_checked(input, index)].set(jnp.asarray(value).astype(input.dtype))


def gather(input: Array, dim: int, index: Array, *, sparse_grad: bool = False) -> Array:
    """Elements along a dimension, each by its place."""
    if not input.ndim:
        return jnp.broadcast_to(input, index.shape)
    place = axis(input, dim)
    cut = tuple(slice(None) if at == place else slice(size) for at, size in enumerate(index.shape))
    return jnp.take_along_axis(input[cut], index, place)


def take_along_dim(input: Array, indices: Array, dim: int | None = None) -> Array:
    """Elements along a dimension, each by its place; broadcast."""
    return jnp.take_along_axis(input, indices, dim)


def index_select(input: Array, dim: int, index: Array) -> Array:
    """Slices along a dimension."""
    taken = jnp.take(lifted(input), index, axis=axis(input, dim))
    return taken if input.ndim else taken.reshape(())


def masked_fill(input: Array, mask: Array, value: Any) -> Array:
    """A number where the mask says."""
    return jnp.where(mask, jnp.asarray(value).astype(input.dtype), input)


def masked_select(input: Array, mask: Array) -> Array:
    """The elements where the mask says."""
    shape = jnp.broadcast_shapes(input.shape, mask.shape)
    return jnp.broadcast_to(input, shape)[jnp.broadcast_to(mask, shape)]


def where(condition: Array, input: Any = None, other: Any = None) -> Any:
    """One or the other; the places of what is true without them."""
    return nonzero(condition, as_tuple=True) if input is None else jnp.where(condition, input, other)


def nonzero(input: Array, *, as_tuple: bool = False) -> Any:
    """The places of what is not zero."""
    found = jnp.nonzero(lifted(input))
    return found if as_tuple else jnp.stack(found, axis=1)[:, : input.ndim]


def embedding(
    input: Array,
    weight: Array,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Array:
    """Rows of a weight by their numbers; that of the padding gets no gradient."""
    if max_norm is not None or scale_grad_by_freq:
        raise UnmappedOp("the dialect of jax has no arguments 'max_norm' and 'scale_grad_by_freq' of embedding")
    if padding_idx is not None:
        weight = weight.at[padding_idx].set(lax.stop_gradient(weight[padding_idx]))
    return jnp.take(weight, input, axis=0)


def one_hot(input: Array, num_classes: int = -1) -> Array:
    """A one at the place of each class."""
    return jax.nn.one_hot(input, int(input.max()) + 1 if num_classes == -1 else num_classes, dtype="int64")


def argwhere(input: Array) -> Array:
    """The places of what is not zero, a row for each."""
    return nonzero(input)


def scatter(input: Array, dim: int, index: Array, src: Any = None, *, value: Any = None, reduce: str = "set") -> Array:
    """With other elements along a dimension, each at its place, or what was there and these."""
    return _scattered(input, dim, index, value if src is None else src, reduce)


def scatter_add(input: Array, dim: int, index: Array, src: Any) -> Array:
    """With more added along a dimension, each at its place."""
    return _scattered(input, dim, index, src, "add")


def _scattered(input: Array, dim: int, index: Array, src: Any, how: str) -> Array:
    places = list(jnp.indices(index.shape, sparse=True))
    if not places:
        return getattr(input.at[()], how)(src)
    places[axis(input, dim)] = index
    cut = tuple(slice(size) for size in index.shape)
    given = src[cut] if getattr(src, "ndim", 0) else jnp.asarray(src, input.dtype)
    return getattr(input.at[tuple(places)], how)(given)


def index_add(input: Array, dim: int, index: Array, source: Array, *, alpha: float = 1) -> Array:
    """With slices added along a dimension."""
    return input.at[_along(input, dim, index)].add(source if alpha == 1 else alpha * source)


def index_copy(input: Array, dim: int, index: Array, source: Array) -> Array:
    """With other slices along a dimension."""
    return input.at[_along(input, dim, index)].set(source)


def index_fill(input: Array, dim: int, index: Array, value: Any) -> Array:
    """With slices of one value along a dimension."""
    return input.at[_along(input, dim, index)].set(jnp.asarray(value).astype(input.dtype))


def _along(input: Array, dim: int, index: Array) -> Any:
    return (*[slice(None)] * axis(input, dim), index)


def fill(input: Array, value: Any) -> Array:
    """All of one value."""
    return jnp.full_like(input, value)


def zero(input: Array) -> Array:
    """All zeros."""
    return jnp.zeros_like(input)


def copy(input: Array, src: Array, non_blocking: bool = False) -> Array:
    """The values of another tensor."""
    return jnp.broadcast_to(src, input.shape).astype(input.dtype)


__all__ = [
    "argwhere",
    "copy",
    "embedding",
    "fill",
    "gather",
    "getitem",
    "index_add",
    "index_copy",
    "index_fill",
    "index_select",
    "masked_fill",
    "masked_select",
    "nonzero",
    "one_hot",
    "scatter",
    "scatter_add",
    "setitem",
    "take_along_dim",
    "where",
    "zero",
]
