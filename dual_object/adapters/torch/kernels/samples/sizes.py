"""Calls of other shapes and sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import torch

from dual_object.adapters.torch.kernels.samples.sample import (
    Sample,
    detached,
    every_tensor,
    floats,
    has_floats,
    leaves,
    near_one,
    on_one,
    spread_over,
    without_gradient,
)
from dual_object.adapters.torch.kernels.samples.table import MOST_ELEMENTS

#: Sizes at which kernels go another way: powers of two, multiples of a block, and their neighbours.
SIZES = (
    *(2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129),
    *(255, 256, 257, 511, 512, 513, 1023, 1024, 1025),
)
FEW_SIZES = (2, 16, 33, 64, 129, 257, 1025, 4097)
#: Of these, what is long enough for another way.
LONG_SIZES = FEW_SIZES[-3:]
#: So many elements make two blocks of two rows of two.
_FEWEST = 8
#: Sizes along which elements rise and fall, and by how much from the first to the last: so far that exp overflows.
STEEP, SLOPES = (257, 1025), {"rising": 400.0, "falling": -400.0}


def in_space(plain: Sequence[Sample]) -> list[Sample]:
    """One more sample, of three dimensions, where all are rows, as those of most functions of one number are."""
    if any(x.dim() > 1 and x.numel() for sample in plain for x in sample.tensors()):
        return []
    rows = spread_over(plain, 1, lambda s: any(x.dim() and x.numel() >= _FEWEST for x in s.tensors()))
    return [sample.changed(every_tensor(_spatial), "plain", "") for sample in rows]


def _spatial(x: torch.Tensor) -> torch.Tensor:
    """A row as blocks of two rows."""
    return x[: x.numel() // _FEWEST * _FEWEST].reshape(2, 2, -1).clone() if x.dim() and x.numel() >= _FEWEST else x


def of_shapes(plain: Sequence[Sample], whole: bool) -> Iterator[Sample]:
    """Each size as 0 and as 1, one dimension more, no dimension."""
    for sample in spread_over(plain, 8 if whole else 3, lambda s: any(x.dim() and x.numel() for x in s.tensors())):
        first, *others = [x for x in sample.tensors() if x.dim()]
        alike = all(x.shape == first.shape for x in others)
        for size in dict.fromkeys(first.shape):
            # A weight without channels is no tensor of size 0 that an op meets; rows without elements are.
            weights = not alike and any(size in x.shape and x.dim() > 2 for x in others)
            rows = all(x.shape[-1] == size for x in (first, *others))
            for new in (0, 1) if rows or not weights else (1,):
                yield from resized(sample, size, new, "shape", f"{size} as {new}")
        if alike:
            for dim in range(first.dim()):
                yield changed_whole(sample, partial(_first_of, dim=dim), "shape", f"dimension {dim} as 1")
        yield changed_whole(sample, _wrapped, "shape", "one dimension more")
        yield on_one(sample, 0, _wrapped, "shape", "the first with one more")
        yield sample.changed(every_tensor(lambda x: x[0].clone() if x.dim() else x), "shape", "one dimension less")
        yield sample.changed(every_tensor(lambda x: x.reshape(-1)[:1].reshape(())), "shape", "0-dim")
        yield changed_whole(sample, lambda x: x.reshape(1, 1, 1, *x.shape) if x.dim() < 3 else x, "shape", "rank 5")


def _first_of(x: torch.Tensor, dim: int) -> torch.Tensor:
    """The first along one dimension, which stays."""
    return x.narrow(dim, 0, 1).clone() if dim < x.dim() else x


def _wrapped(x: torch.Tensor) -> torch.Tensor:
    """The same twice, along a new first dimension."""
    return x.unsqueeze(0).expand(2, *x.shape).clone()


def of_sizes(plain: Sequence[Sample], whole: bool) -> Iterator[Sample]:
    """Each size as others at which kernels go another way."""
    for sample in spread_over(plain, 4 if whole else 2, lambda s: any(x.dim() and x.numel() > 1 for x in s.tensors())):
        for size in _sizes(sample)[-3:]:
            for new in SIZES if whole else FEW_SIZES:
                for changed in resized(sample, size, new, "size", str(new)):
                    yield changed
                    if new in LONG_SIZES:
                        yield from without_gradient(changed)
        first, *others = sample.tensors()
        if first.dim() > 1 and all(x.shape == first.shape for x in others):
            for dim in dict.fromkeys((0, first.dim() - 1)):
                long = [
                    changed_whole(sample, partial(lengthened, dim=dim, new=new), "size", f"{new} along {dim}")
                    for new in (SIZES[-9:] if whole else LONG_SIZES)
                ]
                for changed in long:
                    yield changed
                    yield from without_gradient(changed)
                yield _near_one(long[-1])
        for size in _sizes(sample)[-2:]:
            yield from _slopes(sample, size)
    yield from _rows(plain)


def _slopes(sample: Sample, size: int) -> Iterator[Sample]:
    """Long dimensions whose elements become greater and greater, or less: no block of them is like another."""
    for new in STEEP:
        for made in resized(sample, size, new, "size", str(new)):
            for detail, slope in SLOPES.items():
                yield on_one(made, 0, partial(_sloping, size=new, slope=slope), "size", f"{new}, {detail}")
            yield _near_one(made)


def _near_one(sample: Sample) -> Sample:
    """With numbers of whose products something is left; their differences lose digits, and are not differentiated."""
    return sample.changed(lambda leaf: detached(floats(near_one)(leaf)), sample.role, f"{sample.detail}, near one")


def _sloping(x: torch.Tensor, size: int, slope: float) -> torch.Tensor:
    """Along each dimension of this size, something more is added to each element than to the one before."""
    for dim, there in enumerate(x.shape):
        if there == size:
            shape = [size if axis == dim else 1 for axis in range(x.dim())]
            x = x + torch.linspace(0, slope, size).to(x.dtype).reshape(shape)
    return x


def _rows(plain: Sequence[Sample]) -> Iterator[Sample]:
    """Long rows of an op that is otherwise asked of tables: the first row of each tensor."""
    if any(sample.tensors() and sample.tensors()[0].dim() == 1 for sample in plain):
        return
    for sample in spread_over(plain, 6, lambda s: any(x.dim() > 1 and x.numel() > 1 for x in s.tensors())):
        row = sample.changed(every_tensor(_row), "size", "")
        for size in _sizes(row)[-1:]:
            for new in FEW_SIZES[-3:]:
                yield from resized(row, size, new, "size", f"a row of {new}")


def _row(x: torch.Tensor) -> torch.Tensor:
    while x.dim() > 1:
        x = x[0]
    return x.clone()


def _sizes(sample: Sample) -> list[int]:
    """The different sizes of dimensions, in the order in which they come."""
    return list(dict.fromkeys(size for x in sample.tensors() for size in x.shape if size > 1))


def resized(sample: Sample, size: int, new: int, role: str, detail: str, most: int = MOST_ELEMENTS) -> Iterator[Sample]:
    """Every dimension of this size as another one; and so where plain numbers name it, such as in a shape."""
    grown = sum(x.numel() // max(1, size ** x.shape.count(size)) * new ** _count(x, size) for x in sample.tensors())
    if grown > most or new == size or not size:
        return

    smaller = has_floats(sample) and 0 < new < size

    def tensors(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        changed = _stretched(leaf, size, new)
        return indices_within(changed, size, new) if smaller else changed

    def both(leaf: Any) -> Any:
        return new if type(leaf) is int and leaf == size else tensors(leaf)

    yield sample.changed(tensors, role, detail)
    if any(type(leaf) is int and leaf == size for leaf in leaves((sample.args, sample.kwargs))):
        yield sample.changed(both, role, detail)


def changed_whole(sample: Sample, change: Callable[[torch.Tensor], torch.Tensor], role: str, detail: str) -> Sample:
    """Every tensor changed; whole numbers beside floating ones may be indices, and stay within the least dimension."""
    floating = has_floats(sample)

    def changed(x: torch.Tensor) -> torch.Tensor:
        made = change(x)
        return indices_within(made, max(x.shape), min(made.shape)) if floating and x.dim() else made

    return sample.changed(every_tensor(changed), role, detail)


def indices_within(x: torch.Tensor, size: int, new: int) -> torch.Tensor:
    """What may be indices into a dimension of one size as such of a smaller one; whatever else as it is."""
    if x.dtype != torch.int64 or not x.numel() or x.min() < -size or x.max() >= size:
        return x
    return torch.where(x < 0, -1 - (-1 - x) % new, x % new)


def lengthened(x: torch.Tensor, dim: int, new: int) -> torch.Tensor:
    """One dimension long, the others short."""
    short = x[tuple(slice(None) if axis == dim else slice(0, 2) for axis in range(x.dim()))]
    longer = short.index_select(dim, torch.arange(new) % x.shape[dim])
    return longer * (1 + 0.05 * torch.rand(longer.shape)).to(x.dtype) if x.is_floating_point() else longer


def _count(x: torch.Tensor, size: int) -> int:
    return [*x.shape].count(size)


def _stretched(x: torch.Tensor, size: int, new: int) -> torch.Tensor:
    """The elements again and again along each dimension of this size."""
    changed = x.detach()
    for dim, there in enumerate(x.shape):
        if there == size:
            changed = changed.index_select(dim, torch.arange(new) % size)
    changed = _apart(changed) if new > size else changed
    changed = changed.clone(memory_format=torch.contiguous_format)
    return changed.requires_grad_(x.requires_grad) if x.is_floating_point() or x.is_complex() else changed


def stretched(x: torch.Tensor, dim: int, new: int) -> torch.Tensor:
    """The elements again and again along one dimension, floating ones a little apart from each other."""
    size = x.shape[dim]
    changed = x.detach().index_select(dim, torch.arange(new) % size)
    return _apart(changed) if new > size else changed


def _apart(x: torch.Tensor) -> torch.Tensor:
    """Floating elements a little apart from each other."""
    if not x.is_floating_point():
        return x
    return x * (1 + 0.05 * torch.rand(x.shape, dtype=torch.float64).to(x.dtype))
