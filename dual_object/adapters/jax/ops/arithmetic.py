"""Elementwise arithmetic with arguments that JAX does not have."""

from __future__ import annotations

import jax.numpy as jnp

from dual_object.adapters.jax.ops.shared import Array, floating


def add(input: Array, other: Array, *, alpha: float = 1) -> Array:
    """A sum, of the second so many."""
    return jnp.add(input, other if alpha == 1 else jnp.multiply(other, alpha))


def sub(input: Array, other: Array, *, alpha: float = 1) -> Array:
    """A difference, of the second so many."""
    return jnp.subtract(input, other if alpha == 1 else jnp.multiply(other, alpha))


def rsub(input: Array, other: Array, *, alpha: float = 1) -> Array:
    """The difference the other way round."""
    return jnp.subtract(other, input if alpha == 1 else jnp.multiply(input, alpha))


def div(input: Array, other: Array, *, rounding_mode: str | None = None) -> Array:
    """A quotient, perhaps rounded down or towards zero. Raises ValueError for another word."""
    if rounding_mode is None:
        return jnp.true_divide(input, other)
    if rounding_mode == "floor":
        return jnp.floor_divide(input, other)
    if rounding_mode == "trunc":
        return jnp.trunc(jnp.true_divide(input, other)).astype(jnp.result_type(input, other))
    raise ValueError(f"rounding_mode={rounding_mode!r}, but should be None, 'floor' or 'trunc'")


def addcmul(input: Array, tensor1: Array, tensor2: Array, *, value: float = 1) -> Array:
    """A product added, so many times."""
    return input + value * tensor1 * tensor2


def addcdiv(input: Array, tensor1: Array, tensor2: Array, *, value: float = 1) -> Array:
    """A quotient added, so many times."""
    return input + value * tensor1 / tensor2


def clamp(input: Array, min: Array = None, max: Array = None) -> Array:
    """Between two ends, of which the upper one counts where it is the lesser. Raises ValueError without any."""
    if min is None and max is None:
        raise ValueError("at least one of min and max must not be None")
    return jnp.clip(input, min, max)


def clamp_min(input: Array, min: Array) -> Array:
    """No less than this."""
    return jnp.clip(input, min, None)


def clamp_max(input: Array, max: Array) -> Array:
    """No more than this."""
    return jnp.clip(input, None, max)


def equal(input: Array, other: Array) -> bool:
    """Whether shape and values are the same."""
    return input.shape == other.shape and bool((input == other).all())


def allclose(input: Array, other: Array, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all are nearly the same."""
    return bool(jnp.allclose(input, other, rtol, atol, equal_nan))


def is_nonzero(input: Array) -> bool:
    """Whether its only element is not zero. Raises ValueError for more or fewer."""
    if input.size != 1:
        raise ValueError(f"is_nonzero of {input.size} elements, but should be one")
    return bool(input)


def is_floating_point(input: Array) -> bool:
    """Whether its dtype is a floating one."""
    return floating(input)


def is_complex(input: Array) -> bool:
    """Whether its dtype is a complex one."""
    return bool(jnp.iscomplexobj(input))


def lerp(input: Array, end: Array, weight: Array) -> Array:
    """On the way from one to the other."""
    return input + weight * (end - input)


def nan_to_num(
    input: Array, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Array:
    """Numbers for what is none."""
    return jnp.nan_to_num(input, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf)


__all__ = [
    "add",
    "addcdiv",
    "addcmul",
    "allclose",
    "clamp",
    "clamp_max",
    "clamp_min",
    "div",
    "equal",
    "is_complex",
    "is_floating_point",
    "is_nonzero",
    "lerp",
    "nan_to_num",
    "rsub",
    "sub",
]
