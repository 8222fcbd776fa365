"""Reductions: PyTorch reduces all dimensions for `dim=()`, and knows dimensions 0 and -1 of a tensor without any."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from dual_object.adapters.jax.ops.shared import Array, Pair, axes, axis, lifted


def _over(function: Callable[..., Array]) -> Callable[..., Array]:
    def reduced(input: Array, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Array:
        named = {} if dtype is None else {"dtype": dtype}
        return function(input, axis=axes(input, dim), keepdims=keepdim, **named)

    return reduced


sum = _over(jnp.sum)
mean = _over(jnp.mean)
prod = _over(jnp.prod)
nansum = _over(jnp.nansum)
nanmean = _over(jnp.nanmean)
amax = _over(jnp.max)
amin = _over(jnp.min)
logsumexp = _over(jax.scipy.special.logsumexp)


def all(input: Array, dim: Any = None, keepdim: bool = False) -> Array:
    """Whether all are true."""
    return jnp.all(input, axis=axes(input, dim), keepdims=keepdim)


def any(input: Array, dim: Any = None, keepdim: bool = False) -> Array:
    """Whether one is true."""
    return jnp.any(input, axis=axes(input, dim), keepdims=keepdim)


def count_nonzero(input: Array, dim: Any = None) -> Array:
    """How many are not zero."""
    return jnp.count_nonzero(input, axis=axes(input, dim))


def argmax(input: Array, dim: int | None = None, keepdim: bool = False) -> Array:
    """The place of the greatest."""
    return _place(jnp.argmax, input, dim, keepdim)


def argmin(input: Array, dim: int | None = None, keepdim: bool = False) -> Array:
    """The place of the least."""
    return _place(jnp.argmin, input, dim, keepdim)


def _place(function: Callable[..., Array], input: Array, dim: int | None, keepdim: bool) -> Array:
    if dim is None:
        return function(input, keepdims=keepdim)
    found = function(lifted(input), axis=axis(input, dim), keepdims=keepdim)
    return found if input.ndim else found.reshape(())


def max(input: Array, dim: Any = None, keepdim: bool = False, *, other: Array = None) -> Any:
    """The greatest of all, the greatest along a dimension and their places, or the greater of two."""
    return _extreme(jnp.max, argmax, jnp.maximum, input, dim if other is None else other, keepdim)


def min(input: Array, dim: Any = None, keepdim: bool = False, *, other: Array = None) -> Any:
    """The least of all, the least along a dimension and their places, or the lesser of two."""
    return _extreme(jnp.min, argmin, jnp.minimum, input, dim if other is None else other, keepdim)


def _extreme(
    whole: Callable[..., Array],
    place: Callable[..., Array],
    of_two: Callable[..., Array],
    input: Array,
    dim: Any,
    keep: bool,
) -> Any:
    if dim is None:
        return whole(input)
    if not isinstance(dim, int):
        return of_two(input, dim)
    return _taken(input, place(input, dim, True), dim, keep)


def _taken(input: Array, places: Array, dim: int, keep: bool) -> Pair:
    """The elements at these places along a dimension, of which each has one."""
    if not input.ndim:
        return Pair(input, places)
    along = axis(input, dim)
    values = jnp.take_along_axis(input, places, along)
    return Pair(values, places) if keep else Pair(values.squeeze(along), places.squeeze(along))


def median(input: Array, dim: int | None = None, keepdim: bool = False) -> Any:
    """The lower one in the middle, NaN where there is one; along a dimension with its places."""
    if dim is None:
        return _taken(input.reshape(-1), _middle(input.reshape(-1), 0), 0, False).values
    places = _middle(lifted(input), axis(input, dim))
    return _taken(input, places if input.ndim else places.reshape(()), dim, keepdim)


def _middle(input: Array, along: int) -> Array:
    order = jnp.argsort(input, axis=along, stable=True)
    middle = jax.lax.slice_in_dim(order, (input.shape[along] - 1) // 2, (input.shape[along] - 1) // 2 + 1, axis=along)
    if not jnp.issubdtype(input.dtype, jnp.floating):
        return middle
    lost = jnp.isnan(input)
    return jnp.where(lost.any(along, keepdims=True), jnp.argmax(lost, along, keepdims=True), middle)


def var(
    input: Array, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *, correction: Any = None
) -> Array:
    """The variance."""
    return _spread(jnp.var, input, dim, unbiased, keepdim, correction)


def std(
    input: Array, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *, correction: Any = None
) -> Array:
    """The standard deviation."""
    return _spread(jnp.std, input, dim, unbiased, keepdim, correction)


def _spread(
    function: Callable[..., Array], input: Array, dim: Any, unbiased: bool, keepdim: bool, correction: Any
) -> Array:
    if isinstance(dim, bool):  # `x.var(False)`
        dim, unbiased = None, dim
    less = int(unbiased) if correction is None else correction
    return function(input, axis=axes(input, dim), keepdims=keepdim, ddof=less)


def quantile(
    input: Array, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Array:
    """What so great a share of the elements is no greater than."""
    share = jnp.asarray(q, input.dtype)
    if not input.ndim and dim is not None:
        dim = None
    return jnp.quantile(input, share, axis=dim, keepdims=keepdim, method=interpolation)


def _running(function: Callable[..., Array]) -> Callable[..., Array]:
    def called(input: Array, dim: int, *, dtype: Any = None) -> Array:
        wide = dtype or (None if jnp.issubdtype(input.dtype, jnp.inexact) else jnp.dtype("int64"))
        return function(lifted(input), axis=axis(input, dim), dtype=wide).reshape(input.shape)

    return called


cumsum = _running(jnp.cumsum)
cumprod = _running(jnp.cumprod)


def numel(input: Array) -> int:
    """How many elements there are."""
    return int(input.size)


__all__ = [
    "all",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "cumprod",
    "cumsum",
    "logsumexp",
    "max",
    "mean",
    "median",
    "min",
    "nanmean",
    "nansum",
    "numel",
    "prod",
    "quantile",
    "std",
    "sum",
    "var",
]
