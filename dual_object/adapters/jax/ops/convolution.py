"""Convolutions, transposed convolutions, the folding of windows, and padding."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from dual_object.adapters.jax.ops.shared import Array, each

_PAD_MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def conv(
    input: Array,
    weight: Array,
    bias: Array = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Array:
    """A convolution of any number of dimensions, of one image or a batch of them."""
    ndim = weight.ndim - 2
    ends = padding.upper() if isinstance(padding, str) else [(size, size) for size in each(ndim, padding)]
    result = lax.conv_general_dilated(
        _batch(input, weight),
        weight,
        each(ndim, stride),
        ends,
        rhs_dilation=each(ndim, dilation),
        feature_group_count=groups,
    )
    return _biased(result if input.ndim == weight.ndim else result[0], bias, ndim)


def conv_transpose(
    input: Array,
    weight: Array,
    bias: Array = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Array:
    """A transposed convolution of any number of dimensions: one of an input with holes, by a turned weight.

    Raises ValueError where as much is added to the output as no window reaches.
    """
    ndim = weight.ndim - 2
    strides, dilations, added = each(ndim, stride), each(ndim, dilation), each(ndim, output_padding)
    for more, step, wide in zip(added, strides, dilations, strict=True):
        if more >= max(step, wide):
            raise ValueError(f"output_padding={more}, but should be less than {max(step, wide)} [stride, dilation]")
    channels, out, *kernel = weight.shape
    turned = jnp.flip(weight, range(2, ndim + 2)).reshape(groups, channels // groups, out, *kernel)
    reach = [step * (size - 1) for step, size in zip(dilations, kernel, strict=True)]
    drawn = zip(reach, each(ndim, padding), added, strict=True)
    result = lax.conv_general_dilated(
        _batch(input, weight),
        turned.swapaxes(1, 2).reshape(groups * out, channels // groups, *kernel),
        (1,) * ndim,
        [(far - less, far - less + more) for far, less, more in drawn],
        lhs_dilation=strides,
        rhs_dilation=dilations,
        feature_group_count=groups,
    )
    return _biased(result if input.ndim == weight.ndim else result[0], bias, ndim)


def _batch(input: Array, weight: Array) -> Array:
    if input.ndim not in (weight.ndim, weight.ndim - 1):
        raise ValueError(f"an input of {input.ndim} dimensions, but should be of {weight.ndim - 1} or {weight.ndim}")
    return input if input.ndim == weight.ndim else input[None]


def _biased(result: Array, bias: Array, ndim: int) -> Array:
    if bias is None:
        return result
    channels = result.shape[-ndim - 1]
    if bias.shape != (channels,):
        raise ValueError(f"a bias of shape {bias.shape}, but should be ({channels},)")
    return result + bias.reshape(-1, *[1] * ndim)


def unfold(input: Array, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Array:
    """The windows of images, each in a column."""
    images = input if input.ndim == 4 else input[None]
    columns = lax.conv_general_dilated_patches(
        images,
        each(2, kernel_size),
        each(2, stride),
        [(size, size) for size in each(2, padding)],
        rhs_dilation=each(2, dilation),
    )
    columns = columns.reshape(*columns.shape[:2], -1)
    return columns if input.ndim == 4 else columns[0]


def fold(
    input: Array, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Array:
    """Images of which columns are the windows, added up where they overlap: what differentiates `unfold`."""
    columns = input if input.ndim == 3 else input[None]
    height, width = each(2, kernel_size)
    shape = (columns.shape[0], columns.shape[1] // (height * width), *each(2, output_size))

    def unfolded(images: Array) -> Array:
        return unfold(images, kernel_size, dilation, padding, stride)

    [images] = jax.linear_transpose(unfolded, jax.ShapeDtypeStruct(shape, columns.dtype))(columns)
    return images if input.ndim == 3 else images[0]


def pad(input: Array, pad: Any, mode: str = "constant", value: float | None = None) -> Array:
    """More, or less where negative, at both ends of the last dimensions, the last one first. Raises ValueError."""
    ends = [(0, 0)] * (input.ndim - len(pad) // 2) + list(zip(pad[::2], pad[1::2], strict=True))[::-1]
    if mode == "constant":
        given = [(low, high, 0) for low, high in ends]
        return lax.pad(input, jnp.asarray(value or 0, input.dtype), given)
    if mode not in _PAD_MODES:
        raise ValueError(f"mode={mode!r}, but should be one of constant, {', '.join(_PAD_MODES)}")
    kept = tuple(slice(max(-low, 0), size - max(-high, 0)) for (low, high), size in zip(ends, input.shape, strict=True))
    return jnp.pad(input[kept], [(max(low, 0), max(high, 0)) for low, high in ends], _PAD_MODES[mode])


__all__ = ["conv", "conv_transpose", "fold", "pad", "unfold"]
