"""How the tensors of a call look that is made from a schema: their sizes, what is among their values, how they lie."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch as pytorch

from autotest import dual_tensor, each

#: Values that no kernel treats apart: no halves, no zeros, no two alike.
_ORDINARY = (0.3, -1.7, 2.3, 0.9, -2.6, 1.1, -0.4, 3.2, -1.2, 0.7, 1.6, -0.8, 2.9, -3.1, 0.6, 1.3)
_WHOLE = (1, -2, 3, 2, -1, 4, 5, -3, 1, 2, -4, 3, 6, 1, -2, 5)
#: Integers that float32 and float64 take for those beside them: in the same tensor, and at the same place of another.
_WIDE = ((1 << 24) + 1, 1 << 24, -(1 << 53) - 1, -(1 << 53))
_BESIDE = (1 << 24, (1 << 24) + 1, -(1 << 53), -(1 << 53) - 1)
#: The sizes of tensors, of fewer dimensions the last of these, of more with a 2 before: no two alike, so that one is
#: not taken for another.
_SIZES = (5, 4, 3, 2)
#: A dimension that is long: kernels take a block of elements at once.
_LONG = 129


@dataclass(frozen=True)
class Look:
    """What of a call's tensors is not ordinary: the `size` of the dimension `dim`, the `values` of the first of them,
    or of the `last` ones, their dtype where the values want one, that of all but the first where it is another, or how
    all of them lie.
    """

    dim: int | None = None
    size: int = 0
    values: str = "ordinary"
    last: bool = False
    dtype: str = ""
    beside: str = ""
    layout: str = "contiguous"

    def over(self, other: Look) -> Look:
        """What is not ordinary here, and otherwise what is not ordinary there."""
        sized = self if self.dim is not None else other
        valued = self if self.values != "ordinary" else other
        laid = self if self.layout != "contiguous" else other
        dtype = self.dtype or other.dtype
        # Special values are those of a dtype: they meet each of them.
        beside = (self.beside or other.beside) if valued.values == "ordinary" else ""
        return Look(sized.dim, sized.size, valued.values, valued.last, dtype, beside, laid.layout)


#: How a call's tensors look, in no more ways than a factor has levels.
LOOKS = (
    Look(),
    Look(dim=0, size=1),
    Look(dim=0, size=_LONG),
    *(Look(values=values, last=True) for values in ("nan", "great")),
    Look(values="nothing"),
    *(Look(values=values, dtype="int64") for values in ("great", "wide")),
    # Sums of bytes that no byte holds.
    Look(values="great", dtype="uint8"),
    Look(layout="expanded"),
)

#: Several tensors of two dtypes: wider and narrower ones of a kind, and of two kinds.
MIXED = (
    Look(beside="float64"),
    Look(beside="int32"),
    Look(dtype="float16", beside="float32"),
    Look(dtype="float16", beside="int64"),
    Look(dtype="int64", beside="float32"),
    Look(dtype="complex64", beside="float64"),
)

#: Looks that each argument meets: what comes of a NaN is another thing along another dimension, of no elements with
#: another reduction, of a quotient of integers in another rounding mode. Zeros are in the last tensors, so that a
#: dividend has none, and sizes of 0 are here as well: a divisor without elements would hide its zeros.
MEETING = (
    Look(),
    Look(values="zeros", last=True),
    Look(dim=0),
    Look(dim=-1),
    *(Look(values=values) for values in ("nan", "infinite", "ties", "great")),
    *(Look(dtype=dtype) for dtype in ("int64", "float16")),
    Look(layout="transposed"),
)

#: Dtypes among whose values are some that a kernel may meet there alone: where it takes the greatest number of float32
#: for that of float16 or float64, or sums squares in float16.
ENDS = (
    *(Look(values=values, dtype="float16") for values in ("infinite", "great", "roots")),
    Look(values="infinite", dtype="float64"),
)

#: Lines that an op works along: what is special comes first, later, last, twice in a row, or is all there is.
_LINES = (
    (-math.inf, -math.inf, 1.25, 2.5),
    (1.25, -math.inf, -math.inf, 3.5),
    (1.25, math.inf, math.inf, -2.5),
    (math.inf, -math.inf, 1.25, 2.5),
    (1.25, math.nan, 0.75, -2.5),
    (math.nan, math.nan, 1.25, 2.5),
    (2.5, 1.25, -0.75, math.nan),
    (-math.inf, -math.inf, -math.inf, -math.inf),
    (math.nan, math.inf, -math.inf, 1.25),
    (0.0, 0.0, 2.5, -1.25),
    (2.5, -0.0, 1.25, 0.0),
)


def special_lines() -> tuple[Any, int]:
    """A matrix of such lines, and the dimension that they lie along: once the last, once the first."""
    dim = each(-1, 0).value()
    lines = pytorch.tensor(_LINES)
    return dual_tensor((lines if dim else lines.t().contiguous()).requires_grad_()), dim


@dataclass(frozen=True)
class Tensors:
    """What the tensors of one call are: of these `ranks` and one `dtype`, with a `look`."""

    ranks: tuple[int, ...]
    dtype: str
    square: bool
    look: Look = Look()

    def shape(self, position: int) -> tuple[int, ...]:
        """The sizes of the tensor at a position."""
        rank = self.ranks[position]
        sizes = [2] * rank if self.square else [*(2,) * rank, *_SIZES][len(_SIZES) :]
        if rank and self.look.dim is not None:
            sizes[self.look.dim] = self.look.size
        return tuple(sizes)

    def dtype_of(self, position: int) -> str:
        """The dtype of the tensor at a position."""
        return (position > 0 and self.look.beside) or self.dtype

    def values(self, position: int) -> str:
        """The kind of values of the tensor at a position: the only one is the first and the last."""
        if self.look.values != "ordinary" and (len(self.ranks) == 1 or self.look.last == (position > 0)):
            return self.look.values
        if self.look.values == "wide":
            return "beside"
        return "other" if position else "ordinary"


def pytorch_tensor(shape: tuple[int, ...], dtype: str, values: str) -> pytorch.Tensor:
    """A tensor whose values are of a kind: ordinary or other ones; with a zero, a NaN, infinities beside -0.0 and a
    subnormal, the greatest and the least of its dtype, numbers whose squares are beyond these, integers that no float
    holds or those beside them, which floats take for the same; all alike; or indices into a dimension of 2, one of them
    from the end or beyond any.
    """
    count = 1
    for size in shape:
        count *= size
    kind = getattr(pytorch, dtype)
    if values in ("index", "negative", "beyond"):
        flat_values: Any = [i % 2 for i in range(count)]
        if count:
            flat_values[-1] = {"index": 1, "negative": -1, "beyond": 9}[values]
    else:
        table = _ORDINARY if kind.is_floating_point or kind.is_complex else _WHOLE
        start = 5 if values in ("other", "beside") else 0
        flat_values = [table[(start + i) % len(table)] for i in range(count)]
        if kind.is_complex:
            flat_values = [complex(value, table[(start + i + 3) % len(table)]) for i, value in enumerate(flat_values)]
        if dtype == "uint8":
            flat_values = [abs(value) for value in flat_values]
        if dtype == "bool":
            flat_values = [value > 0 for value in flat_values]
        flat_values = with_corners(flat_values, kind, values)
    return pytorch.tensor(flat_values, dtype=kind).reshape(shape)


def with_corners(ordinary: list[Any], dtype: pytorch.dtype, values: str) -> list[Any]:
    """Values with those of a kind among them, where the dtype has such; `nothing` is zeros alone."""
    floating = dtype.is_floating_point or dtype.is_complex
    if values == "ties":
        return ordinary[:1] * len(ordinary)
    if values == "nothing":
        return [0 for _ in ordinary]
    if values == "zeros":
        return [*(0 for _ in ordinary[:1]), *ordinary[1:]]
    if values == "nan" and floating:
        return [*ordinary[:1], *(math.nan for _ in ordinary[1:2]), *ordinary[2:]]
    if values == "infinite" and floating:
        # With what is too small for a number of full width among them.
        least = pytorch.finfo(dtype).tiny / 4
        return [*(math.inf, -math.inf, -0.0, least)[: len(ordinary)], *ordinary[4:]]
    if values == "wide" and dtype == pytorch.int64:
        return [*_WIDE[: len(ordinary)], *ordinary[len(_WIDE) :]]
    if values == "beside" and dtype == pytorch.int64:
        return [*_BESIDE[: len(ordinary)], *ordinary[len(_BESIDE) :]]
    if values == "roots" and floating:
        # Two numbers whose squares are beyond the greatest one, and whose sum is not.
        root = 1.2 * float(pytorch.finfo(dtype).max) ** 0.5
        return [*(root, -root)[: len(ordinary)], *ordinary[2:]]
    if values == "great" and dtype != pytorch.bool:
        ends = pytorch.finfo(dtype) if floating else pytorch.iinfo(dtype)
        return [*(ends.max, ends.min)[: len(ordinary)], *ordinary[2:]]
    return ordinary


def lying(tensor: pytorch.Tensor, layout: str) -> pytorch.Tensor:
    """The tensor in a layout: expanded is its first row in each place; strided every other element of a memory."""
    if layout == "strided" and tensor.ndim:
        return tensor.repeat_interleave(2, -1)[..., ::2]
    if layout == "transposed" and tensor.ndim > 1:
        return tensor.mT.contiguous().mT
    if layout == "expanded" and tensor.ndim and tensor.shape[0] > 1:
        return tensor[:1].expand(tensor.shape)
    return tensor


def input_tensor(shape: tuple[int, ...], dtype: str, values: str, layout: str = "contiguous") -> Any:
    """The same as an input of the running case, in a layout."""
    return dual_tensor(lying(pytorch_tensor(shape, dtype, values), layout))
