"""What the families share: dimensions as PyTorch names them, sizes per dimension, and results that are no new array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

#: JAX's arrays and tracers: mypy does not see them where JAX is not installed.
Array = Any

#: PyTorch's default, which JAX's is not once it has 64 bits.
DEFAULT = np.dtype("float32")


class Itself:
    """The result of an op that returns its own tensor, as `x.contiguous()` does."""


class Detached(NamedTuple):
    """A result that no gradient goes through."""

    array: Array


class Written(NamedTuple):
    """A result, and what is written to arguments, by their names."""

    result: Array
    arguments: dict[str, Array]


class Pair(NamedTuple):
    """Values, and where they were found."""

    values: Array
    indices: Array


ITSELF = Itself()


def axes(array: Array, dim: Any) -> tuple[int, ...]:
    """The dimensions that `dim` means, from 0: all of them for None and `()`, none of a tensor without any.

    Raises IndexError for one that is not there.
    """
    if dim is None or (isinstance(dim, Sequence) and not dim):
        return tuple(range(array.ndim))
    return tuple(axis for one in ((dim,) if isinstance(dim, int) else dim) for axis in _axis(array, one))


def _axis(array: Array, dim: int) -> tuple[int, ...]:
    count = max(array.ndim, 1)
    if not -count <= dim < count:
        raise IndexError(f"dim={dim}, but should be of [{-count}, {count})")
    return (dim % count,) if array.ndim else ()


def axis(array: Array, dim: int) -> int:
    """The dimension that `dim` means, from 0; of a tensor without any 0, too. Raises IndexError."""
    return next(iter(_axis(array, dim)), 0)


def lifted(array: Array) -> Array:
    """A tensor of at least one dimension: PyTorch has 0 and -1 for those of one without any."""
    return array if array.ndim else array.reshape(1)


def each(count: int, value: Any) -> tuple[int, ...]:
    """A size for each of `count` dimensions, of one for all or a sequence of them.

    Raises ValueError for another number of sizes, TypeError for a truth value, which Python takes for a number.
    """
    if isinstance(value, bool):
        raise TypeError(f"size={value}, but should be a number")
    sizes = (value,) if isinstance(value, int) else tuple(int(part) for part in value)
    if len(sizes) == 1:
        sizes *= count
    if len(sizes) != count:
        raise ValueError(f"sizes={sizes}, but should be one or {count}")
    return sizes


def sizes(given: tuple[Any, ...]) -> tuple[int, ...]:
    """The sizes of `f(2, 3)`, `f((2, 3))` and `f([2, 3])`."""
    first = given[0] if given else ()
    return tuple(int(size) for size in (first if isinstance(first, (tuple, list)) else given))


def floating(array: Array) -> bool:
    """Whether an array's dtype is a floating one."""
    return bool(jnp.issubdtype(array.dtype, jnp.floating))
