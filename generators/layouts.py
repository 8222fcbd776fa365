"""How an array that is drawn lies in memory: a layout by name, its strides, and the elements before it."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generators.errors import ChoiceError

#: From simple to wild, so that shrinking a case also straightens its tensors.
LAYOUTS: Final = ("contiguous", "offset", "transposed", "channels_last", "strided", "expanded")
#: Elements that lie before an array with a storage offset.
OFFSET: Final = 3


class Placed(NamedTuple):
    """Where the elements lie: `strides` in elements, None where they are contiguous, and the elements `before`."""

    strides: tuple[int, ...] | None = None
    before: int = 0


CONTIGUOUS: Final = Placed()


def place_layout(layout: str, shape: Sequence[int]) -> Placed:
    """Strides and storage offset of an array of `shape`, in elements; ChoiceError if the layout is unknown.

    Layouts:
        contiguous: packed, from the start of its memory.
        offset: packed, behind some other elements.
        transposed: the last two dimensions swapped.
        channels_last: dimension 1 innermost, where there are 4 or 5; else as transposed.
        strided: every second element, behind some others, as `x[:, 1::2]` lies.
        expanded: stride 0 in the first dimension that has several elements.

    A shape that a layout cannot change (no element, or only one in the dimensions that matter) stays contiguous.
    """
    if layout not in LAYOUTS:
        raise ChoiceError(f"layout={layout!r}, but should be one of {', '.join(LAYOUTS)} [place_layout(...)]")
    if layout == "contiguous" or 0 in shape:
        return CONTIGUOUS
    if layout == "offset":
        return Placed(None, OFFSET)
    rank = len(shape)
    plain = _packed(shape, range(rank))
    strides = plain
    if layout == "channels_last" and rank in (4, 5):
        strides = _packed(shape, [0, *range(2, rank), 1])
    elif layout in ("channels_last", "transposed") and rank > 1:
        strides = _packed(shape, [*range(rank - 2), rank - 1, rank - 2])
    elif layout == "strided":
        strides = tuple([2 * stride for stride in plain])
    elif layout == "expanded":
        axis = _first_long(shape)
        if axis is not None:
            kept = [1 if i == axis else size for i, size in enumerate(shape)]
            packed = _packed(kept, range(rank))
            strides = tuple([0 if i == axis else stride for i, stride in enumerate(packed)])
    # The stride of a dimension of one element says nothing.
    differs = any(size > 1 and a != b for size, a, b in zip(shape, strides, plain, strict=True))
    return Placed(strides, OFFSET if layout == "strided" else 0) if differs else CONTIGUOUS


def expand_values(data: NDArray[Any], strides: Sequence[int]) -> NDArray[Any]:
    """The values that an array with these strides can hold: where a stride is 0 the first one, repeated."""
    kept = tuple([slice(0, 1) if stride == 0 else slice(None) for stride in strides])
    return np.ascontiguousarray(np.broadcast_to(data[kept], data.shape))


def _packed(shape: Sequence[int], order: Sequence[int]) -> tuple[int, ...]:
    """Strides without gaps where the dimensions are laid down in `order`, the last one innermost."""
    strides = [0] * len(shape)
    step = 1
    for axis in reversed(order):
        strides[axis] = step
        step *= shape[axis]
    return tuple(strides)


def _first_long(shape: Sequence[int]) -> int | None:
    return next((axis for axis, size in enumerate(shape) if size > 1), None)
