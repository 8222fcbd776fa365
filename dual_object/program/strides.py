"""How an array lies in memory: strides in elements, as PyTorch counts them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dual_object.program.values import Array


def laid(data: Array, strides: Sequence[int] | None) -> Array:
    """A fresh buffer with the values of `data` and these strides; contiguous for None."""
    if strides is None:
        return data.copy()
    extent = 1 + sum((size - 1) * stride for size, stride in zip(data.shape, strides, strict=True) if size)
    flat = np.zeros(extent, data.dtype)
    bytes_ = tuple(stride * data.itemsize for stride in strides)
    view: Array = np.lib.stride_tricks.as_strided(flat, data.shape, bytes_)
    view[...] = data
    return view


def reversed_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of a tensor that was made with its dimensions in reverse, and then transposed."""
    strides: list[int] = []
    step = 1
    for size in shape:
        strides.append(step)
        step *= max(size, 1)
    return tuple(strides)
