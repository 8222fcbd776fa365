"""Pooling."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from dual_object.adapters.jax.ops.shared import Array, each, floating
from dual_object.errors import UnmappedOp

_Ends = list[tuple[int, int]]


def _windows(
    input: Array, ndim: int, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], _Ends]:
    """Sizes, steps and dilations of windows for all dimensions, and what is added at the ends of the image."""
    sizes, dilations, pads = each(ndim, kernel), each(ndim, dilation), each(ndim, padding)
    steps = sizes if stride is None or stride == [] else each(ndim, stride)
    ends: _Ends = []
    for size, step, wide, pad, whole in zip(sizes, steps, dilations, pads, input.shape[-ndim:], strict=True):
        reach = wide * (size - 1) + 1
        room = whole + 2 * pad - reach
        count = -(-room // step) + 1 if ceil else room // step + 1
        if ceil and (count - 1) * step >= whole + pad:  # a window must begin within the image
            count -= 1
        ends.append((pad, max((count - 1) * step + reach - whole - pad, pad)))
    ahead = (1,) * (input.ndim - ndim)
    return (*ahead, *sizes), (*ahead, *steps), (*ahead, *dilations), [(0, 0)] * len(ahead) + ends


def _pool_max(ndim: int) -> Any:
    def pool(
        input: Array,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Array:
        if return_indices:
            raise UnmappedOp("the dialect of jax has no argument 'return_indices' of max_pool")
        sizes, steps, dilations, ends = _windows(input, ndim, kernel_size, stride, padding, dilation, ceil_mode)
        least = -jnp.inf if floating(input) else jnp.iinfo(input.dtype).min
        return lax.reduce_window(input, least, lax.max, sizes, steps, ends, window_dilation=dilations)

    return pool


def _pool_mean(ndim: int) -> Any:
    def pool(
        input: Array,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Array:
        sizes, steps, _, ends = _windows(input, ndim, kernel_size, stride, padding, 1, ceil_mode)
        total = lax.reduce_window(input, 0.0, lax.add, sizes, steps, ends)
        if divisor_override is not None:
            return total / divisor_override
        pads = each(ndim, padding) if count_include_pad else (0,) * ndim
        counted = jnp.ones(
            (1,) * (input.ndim - ndim)
            + tuple(size + 2 * pad for size, pad in zip(input.shape[-ndim:], pads, strict=True)),
            input.dtype,
        )
        around = [(low - pad, high - pad) for (low, high), pad in zip(ends[-ndim:], pads, strict=True)]
        ahead = [(0, 0)] * (input.ndim - ndim)
        return total / lax.reduce_window(counted, 0.0, lax.add, sizes, steps, [*ahead, *around])

    return pool


def _pool_mean_to(ndim: int) -> Any:
    def pool(input: Array, output_size: Any) -> Array:
        given = (output_size,) * ndim if output_size is None or isinstance(output_size, int) else output_size
        for place, size in enumerate(given, start=input.ndim - ndim):
            whole = input.shape[place]
            if size is not None:
                bounds = [((i * whole) // size, -(-(i + 1) * whole // size)) for i in range(size)]
                parts = [lax.slice_in_dim(input, *bound, axis=place).mean(place, keepdims=True) for bound in bounds]
                input = jnp.concatenate(parts, axis=place)
        return input

    return pool


max_pool1d, max_pool2d, max_pool3d = (_pool_max(ndim) for ndim in (1, 2, 3))
avg_pool1d, avg_pool2d, avg_pool3d = (_pool_mean(ndim) for ndim in (1, 2, 3))
adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = (_pool_mean_to(ndim) for ndim in (1, 2, 3))

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
]
