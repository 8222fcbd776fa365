"""New tensors: PyTorch makes them as float32 unless told otherwise, JAX with 64 bits as float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from dual_object.adapters.jax.ops.shared import DEFAULT, Array, sizes
from dual_object.program.values import Device

#: Where a tensor lies, and whether it is a leaf: nothing that an array has.
_STANDING = ("device", "layout", "memory_format", "pin_memory", "requires_grad")


def _made(function: Callable[..., Array]) -> Callable[..., Array]:
    def called(*args: Any, **kwargs: Any) -> Array:
        return function(*args, **{name: value for name, value in kwargs.items() if name not in _STANDING})

    return called


@_made
def zeros(*given: Any, size: Any = (), dtype: Any = None) -> Array:
    """Zeros."""
    return jnp.zeros(sizes(given or (size,)), dtype or DEFAULT)


@_made
def ones(*given: Any, size: Any = (), dtype: Any = None) -> Array:
    """Ones."""
    return jnp.ones(sizes(given or (size,)), dtype or DEFAULT)


@_made
def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Array:
    """All of one value, in its dtype unless told otherwise."""
    return jnp.full(sizes((size,)), fill_value, dtype or _dtype_of(fill_value))


def _dtype_of(value: Any) -> Any:
    if hasattr(value, "dtype"):
        return value.dtype
    return np.dtype("bool") if isinstance(value, bool) else np.dtype("int64") if isinstance(value, int) else DEFAULT


@_made
def zeros_like(input: Array, *, dtype: Any = None) -> Array:
    """Zeros of another tensor's shape and dtype."""
    return jnp.zeros_like(input, dtype=dtype)


@_made
def ones_like(input: Array, *, dtype: Any = None) -> Array:
    """Ones of another tensor's shape and dtype."""
    return jnp.ones_like(input, dtype=dtype)


@_made
def full_like(input: Array, fill_value: Any, *, dtype: Any = None) -> Array:
    """All of one value, of another tensor's shape and dtype."""
    return jnp.full_like(input, fill_value, dtype=dtype)


@_made
def new_zeros(input: Array, *size: Any, dtype: Any = None) -> Array:
    """Zeros of a tensor's dtype."""
    return jnp.zeros(sizes(size), dtype or input.dtype)


@_made
def new_ones(input: Array, *size: Any, dtype: Any = None) -> Array:
    """Ones of a tensor's dtype."""
    return jnp.ones(sizes(size), dtype or input.dtype)


@_made
def new_full(input: Array, size: Any, fill_value: Any, *, dtype: Any = None) -> Array:
    """All of one value, in a tensor's dtype."""
    return jnp.full(sizes((size,)), fill_value, dtype or input.dtype)


@_made
def new_tensor(input: Array, data: Any, *, dtype: Any = None) -> Array:
    """These values, in a tensor's dtype."""
    return jnp.array(data, dtype=dtype or input.dtype)


@_made
def arange(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None) -> Array:
    """Numbers at one distance, the end left out."""
    first, last = (0, start) if end is None else (start, end)
    whole = all(isinstance(number, int) for number in (first, last, step))
    return jnp.arange(first, last, step, dtype=dtype or (np.dtype("int64") if whole else DEFAULT))


@_made
def linspace(start: Any, end: Any, steps: int, *, dtype: Any = None) -> Array:
    """So many numbers at one distance, the end included."""
    return jnp.linspace(start, end, steps, dtype=dtype or DEFAULT)


@_made
def logspace(start: Any, end: Any, steps: int, base: float = 10.0, *, dtype: Any = None) -> Array:
    """So many powers, whose exponents are at one distance."""
    return jnp.logspace(start, end, steps, base=base, dtype=dtype or DEFAULT)


@_made
def eye(n: int, m: int | None = None, *, dtype: Any = None) -> Array:
    """Ones on the diagonal."""
    return jnp.eye(n, m, dtype=dtype or DEFAULT)


@_made
def tensor(data: Any, *, dtype: Any = None) -> Array:
    """These values; real numbers as float32 unless told otherwise."""
    made = np.asarray(data)
    return jnp.array(made, dtype=dtype or (DEFAULT if made.dtype.kind == "f" and not hasattr(data, "dtype") else None))


def device(type: str, index: int = 0) -> Device:
    """The neutral device. Raises NotImplementedError for another than the CPU."""
    if type.partition(":")[0] != "cpu":
        raise NotImplementedError(f"device={type!r}, but should be 'cpu'")
    return Device("cpu")


__all__ = [
    "arange",
    "device",
    "eye",
    "full",
    "full_like",
    "linspace",
    "logspace",
    "new_full",
    "new_ones",
    "new_tensor",
    "new_zeros",
    "ones",
    "ones_like",
    "tensor",
    "zeros",
    "zeros_like",
]
