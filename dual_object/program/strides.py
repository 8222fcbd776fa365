"""How an array lies in memory: strides in elements, as PyTorch counts them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dual_object.program.values import Array


def laid(data: Array, strides: Sequence[int] | None) -> Array:
    """A fresh buffer with the values of `data` and these strides; contiguous for None."""
    return data.copy() if strides is None else _view(memory_of(data, strides), data.shape, strides)


def memory_of(data: Array, strides: Sequence[int]) -> Array:
    """The memory, from its start, of a tensor with these values and strides; 0 where no element lies."""
    memory = np.zeros(extent(data.shape, strides), data.dtype)
    _view(memory, data.shape, strides)[...] = data
    return memory


def extent(shape: Sequence[int], strides: Sequence[int]) -> int:
    """From the first to the last element of a tensor, both counted: fewer than it has elements where some lie in one
    place, more where it has gaps.
    """
    return 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True) if size)


def _view(memory: Array, shape: Sequence[int], strides: Sequence[int]) -> Array:
    view: Array = np.lib.stride_tricks.as_strided(memory, shape, tuple(stride * memory.itemsize for stride in strides))
    return view


def reversed_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of a tensor that was made with its dimensions in reverse, and then transposed."""
    strides: list[int] = []
    step = 1
    for size in shape:
        strides.append(step)
        step *= max(size, 1)
    return tuple(strides)
