"""How an array lies in memory: strides in elements, as PyTorch counts them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

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


@dataclass(frozen=True)
class Slice:
    """A tensor as a part of packed memory: `memory[offset:].reshape(sizes)[index]`.

    One of shape (2, 3) and strides (4, 1) behind 5 other elements is `memory[5:].reshape(2, 4)[:, :3]`, one of strides
    (6, 2) `memory[5:].reshape(2, 3, 2)[:, :, 0]`. The index is empty where the tensor is packed itself.
    """

    memory: Array
    offset: int
    sizes: tuple[int, ...]
    index: tuple[slice | int, ...]

    def of(self, memory: Any) -> Any:
        """The tensor in a framework's own tensor of the memory."""
        whole = memory[self.offset :].reshape(self.sizes)
        return whole[self.index] if self.index else whole

    def words(self, memory: str) -> str:
        """The same as an expression of Python's: `memory[5:].reshape((2, 4))[:, :3]`."""
        index = ", ".join(
            f":{'' if at.stop is None else at.stop}" if isinstance(at, slice) else str(at) for at in self.index
        )
        return f"{memory}[{self.offset}:].reshape({self.sizes}){f'[{index}]' if index else ''}"


def sliced(data: Array, strides: Sequence[int] | None, offset: int) -> Slice | None:
    """Packed memory of which a slice has these values and strides, and begins at the offset; zero elsewhere.

    None where no slice has such strides: transposed, expanded and overlapping tensors.
    """
    shape = data.shape
    sizes = sliced_sizes(shape, strides)
    if sizes is None:
        return None
    index: tuple[slice | int, ...] = ()
    if sizes != shape:
        kept = [slice(None) if size == wide else slice(size) for size, wide in zip(shape, sizes, strict=False)]
        index = (*kept, 0) if len(sizes) > len(shape) else tuple(kept)
    found = Slice(np.zeros(offset + prod(sizes), data.dtype), offset, sizes, index)
    found.of(found.memory)[...] = data
    return found


def sliced_sizes(shape: Sequence[int], strides: Sequence[int] | None) -> tuple[int, ...] | None:
    """The sizes of what a slice with these strides is taken of: (2, 4) for shape (2, 3) and strides (4, 1), (2, 3, 2)
    for strides (6, 2), of which the last dimension has one element in the slice. Without strides it is packed itself.
    None where no slice has them, and where it has no element.
    """
    if 0 in shape:
        return None
    if strides is None:
        return tuple(shape)
    sizes: list[int] = []
    step = 0
    for size, stride in zip(shape, strides, strict=True):
        sizes.append(size)
        if size == 1:  # its stride says nothing
            continue
        if not stride:
            return None
        if step:
            sizes[-1], rest = divmod(step, stride)
            if rest or sizes[-1] < size:
                return None
        step = stride
    return (*sizes, step) if step > 1 else tuple(sizes)


def address(array: Array) -> int:
    """Where the memory begins that an array is a view of, or its own."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    begin: int = array.__array_interface__["data"][0]
    return begin


def dense(shape: Sequence[int], strides: Sequence[int] | None) -> bool:
    """Whether a tensor has neither gaps nor overlaps: it is contiguous, or was before its dimensions were permuted."""
    if strides is None:
        return True
    step = 1
    for stride, size in sorted((stride, size) for size, stride in zip(shape, strides, strict=True) if size != 1):
        if stride != step:
            return False
        step *= size
    return True


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
