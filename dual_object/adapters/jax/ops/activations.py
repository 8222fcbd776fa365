"""Activations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from dual_object.adapters.jax.ops.shared import DEFAULT, Array, axis, floating, lifted


def gelu(input: Array, approximate: str = "none") -> Array:
    """GELU, by its formula or by the one with tanh. Raises ValueError for another word."""
    if approximate not in ("none", "tanh"):
        raise ValueError(f"approximate={approximate!r}, but should be 'none' or 'tanh'")
    return jax.nn.gelu(input, approximate=approximate == "tanh")


def sigmoid(input: Array) -> Array:
    """From 0 to 1; whole numbers and truth values become real ones."""
    return jax.nn.sigmoid(input if floating(input) else input.astype(DEFAULT))


def hardtanh(input: Array, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Array:
    """Between two numbers."""
    return jnp.clip(input, min_val, max_val)


def softplus(input: Array, beta: float = 1, threshold: float = 20) -> Array:
    """A smooth relu, and itself beyond the threshold."""
    return jnp.where(input * beta > threshold, input, jax.nn.softplus(input * beta) / beta)


def hardshrink(input: Array, lambd: float = 0.5) -> Array:
    """Zero near zero."""
    return jnp.where((input >= -lambd) & (input <= lambd), jnp.zeros_like(input), input)


def softshrink(input: Array, lambd: float = 0.5) -> Array:
    """Nearer to zero by this."""
    return jnp.where(input > lambd, input - lambd, jnp.where(input < -lambd, input + lambd, jnp.zeros_like(input)))


def threshold(input: Array, threshold: float, value: float, inplace: bool = False) -> Array:
    """A number for whatever is not greater than the threshold."""
    return jnp.where(input <= threshold, jnp.full_like(input, value), input)


def prelu(input: Array, weight: Array) -> Array:
    """A slope for each channel below zero. Raises ValueError where there are not as many as channels."""
    channels = input.shape[1] if input.ndim > 1 else 1
    if weight.size not in (1, channels):
        raise ValueError(f"{weight.size} slopes, but should be 1 or {channels}")
    slopes = weight.reshape(-1, *[1] * (input.ndim - 2)) if input.ndim > 1 else weight.reshape(())
    return jnp.where(input > 0, input, slopes * input)


def _along(function: Callable[..., Array]) -> Callable[..., Array]:
    def called(input: Array, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Array:
        given = input if dtype is None else input.astype(dtype)
        along = int(input.ndim not in (0, 1, 3)) if dim is None else dim  # PyTorch's, of which it warns
        return function(lifted(given), axis=axis(given, along)).reshape(given.shape)

    return called


softmax = _along(jax.nn.softmax)
log_softmax = _along(jax.nn.log_softmax)


def softmin(input: Array, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Array:
    """softmax of the negative."""
    return softmax(-input, dim, _stacklevel, dtype)


def glu(input: Array, dim: int = -1) -> Array:
    """One half times the sigmoid of the other. Raises ValueError where there are no halves."""
    size = input.shape[axis(input, dim)]
    if size % 2:
        raise ValueError(f"size={size}, but should be even [dim={dim}]")
    return jax.nn.glu(input, axis=dim)


__all__ = [
    "gelu",
    "glu",
    "hardshrink",
    "hardtanh",
    "log_softmax",
    "prelu",
    "sigmoid",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "threshold",
]
