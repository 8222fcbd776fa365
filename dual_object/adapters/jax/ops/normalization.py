"""Normalization over batches, layers and groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from dual_object.adapters.jax.ops.linear_algebra import vector_norm
from dual_object.adapters.jax.ops.shared import ITSELF, Array, Itself, Written
from dual_object.errors import UnmappedOp


def _normalized(input: Array, axes: tuple[int, ...], eps: float) -> Array:
    mean = input.mean(axes, keepdims=True)
    return (input - mean) * lax.rsqrt(input.var(axes, keepdims=True) + eps)


def _scaled(input: Array, weight: Array, bias: Array, shape: tuple[int, ...]) -> Array:
    input = input if weight is None else input * weight.reshape(shape)
    return input if bias is None else input + bias.reshape(shape)


def _channels(input: Array) -> tuple[int, ...]:
    return (1, -1, *[1] * (input.ndim - 2))


def batch_norm(
    input: Array,
    running_mean: Array,
    running_var: Array,
    weight: Array = None,
    bias: Array = None,
    training: bool = False,
    momentum: float | None = 0.1,
    eps: float = 1e-5,
) -> Array | Written:
    """Each channel by the mean and variance of its batch, on whose way the running ones go a step; else by these."""
    shape, axes = _channels(input), (0, *range(2, input.ndim))
    if not training:
        scaled = (input - running_mean.reshape(shape)) * lax.rsqrt(running_var.reshape(shape) + eps)
        return _scaled(scaled, weight, bias, shape)
    count = input.size // max(input.shape[1], 1)
    if count == 1:
        raise ValueError(f"an input of shape {input.shape}, but should have more than one value for each channel")
    result = _scaled(_normalized(input, axes, eps), weight, bias, shape)
    if running_mean is None:
        return result
    return Written(result, _moved(running_mean, running_var, input.mean(axes), input.var(axes, ddof=1), momentum))


def _moved(
    running_mean: Array, running_var: Array, mean: Array, var: Array, momentum: float | None
) -> dict[str, Array]:
    """The running mean and variance a step further."""
    rate = momentum or 0.0
    return {
        "running_mean": running_mean * (1 - rate) + lax.stop_gradient(mean) * rate,
        "running_var": running_var * (1 - rate) + lax.stop_gradient(var) * rate,
    }


def instance_norm(
    input: Array,
    running_mean: Array = None,
    running_var: Array = None,
    weight: Array = None,
    bias: Array = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Array | Written:
    """Each channel of each sample by its own mean and variance."""
    shape, axes = _channels(input), tuple(range(2, input.ndim))
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    result = _scaled(_normalized(input, axes, eps), weight, bias, shape)
    if running_mean is None:
        return result
    means, variances = input.mean(axes).mean(0), input.var(axes, ddof=1).mean(0)
    return Written(result, _moved(running_mean, running_var, means, variances, momentum))


def layer_norm(
    input: Array, normalized_shape: Sequence[int], weight: Array = None, bias: Array = None, eps: float = 1e-5
) -> Array:
    """Each sample by its own mean and variance over the last dimensions."""
    axes = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    if input.shape[axes[0] :] != tuple(normalized_shape):
        raise ValueError(f"normalized_shape={list(normalized_shape)}, but should end {input.shape}")
    return _scaled(_normalized(input, axes, eps), weight, bias, tuple(normalized_shape))


def rms_norm(input: Array, normalized_shape: Sequence[int], weight: Array = None, eps: float | None = None) -> Array:
    """Each sample by the root of its mean square over the last dimensions."""
    axes = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    least = float(jnp.finfo(input.dtype).eps) if eps is None else eps
    square = (input * input).mean(axes, keepdims=True)
    return _scaled(input * lax.rsqrt(square + least), weight, None, tuple(normalized_shape))


def group_norm(input: Array, num_groups: int, weight: Array = None, bias: Array = None, eps: float = 1e-5) -> Array:
    """Each group of channels by its own mean and variance."""
    grouped = input.reshape(input.shape[0], num_groups, -1)
    return _scaled(_normalized(grouped, (2,), eps).reshape(input.shape), weight, bias, _channels(input))


def dropout(input: Array, p: float = 0.5, training: bool = True, inplace: bool = False) -> Array | Itself:
    """Itself, or nothing of it. Raises UnmappedOp where it would have to draw."""
    if not training or not p or not input.size:
        return ITSELF
    if p == 1:
        return input * jnp.zeros_like(input)
    raise UnmappedOp("the dialect of jax draws no random numbers")


def normalize(input: Array, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Array:
    """By the norm along a dimension, which counts as no less than `eps`."""
    return input / jnp.clip(vector_norm(input, p, dim, True), eps, None)


__all__ = ["batch_norm", "dropout", "group_norm", "instance_norm", "layer_norm", "normalize", "rms_norm"]
