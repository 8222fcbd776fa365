"""The shapes that a kernel claims: `n,128` is every shape of two dimensions the last of which is 128 long.

Few of PyTorch's samples have a size that a kernel is made for: where none has it, samples are brought to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import torch

from dual_object.adapters.torch.kernels.samples.sample import Sample
from dual_object.adapters.torch.kernels.samples.sizes import resized, stretched

#: A size for each dimension; None: any.
Pattern = tuple[int | None, ...]
#: Elements of all tensors of a sample that was brought to a shape.
MOST_ELEMENTS = 1 << 18


def worded(patterns: Sequence[Pattern]) -> str:
    """Patterns as people write them, any size as `n`."""
    return " ".join(",".join("n" if size is None else str(size) for size in pattern) for pattern in patterns)


def fits(sample: Sample, patterns: Sequence[Pattern]) -> bool:
    """Whether the first tensor is of one of the shapes; of no patterns, whether or not."""
    return not patterns or any(fits_shape(x.shape, patterns) for x in sample.tensors()[:1])


def fits_shape(shape: Sequence[int], patterns: Sequence[Pattern]) -> bool:
    """Whether a shape is one of these; of no patterns, whether or not."""
    return not patterns or any(
        len(shape) == len(pattern) and all(wanted in (None, size) for size, wanted in zip(shape, pattern, strict=True))
        for pattern in patterns
    )


def within(drawn: Sequence[Sample], patterns: Sequence[Pattern]) -> list[Sample]:
    """The samples that fit; for each pattern that none fits, those that can be brought to it, in each way that there
    is. PyTorch says which of them are lawful calls.
    """
    if not patterns:
        return [*drawn]
    found: list[Sample] = []
    for pattern in patterns:
        own = [sample for sample in drawn if fits(sample, [pattern])]
        found += own or [brought for sample in drawn for brought in _brought(sample, pattern)]
    return [sample for turn, sample in enumerate(found) if all(sample is not one for one in found[:turn])]


def _brought(sample: Sample, pattern: Pattern) -> Iterator[Sample]:
    """A sample brought to a shape: each size wherever it comes, and each dimension of what is as the first tensor."""
    tensors = sample.tensors()
    if not tensors or not tensors[0].numel():
        return
    by_sizes = sample
    for dim, wanted in enumerate(pattern):
        first = by_sizes.tensors()[0]
        if wanted is not None and first.dim() == len(pattern) and first.shape[dim] != wanted:
            changed = [*resized(by_sizes, first.shape[dim], wanted, "plain", "", most=MOST_ELEMENTS)]
            by_sizes = changed[-1] if changed else by_sizes
    shape = tensors[0].shape
    by_dims = sample.changed(partial(_of_shape, shape=shape, pattern=pattern), "plain", "")
    taken = [one for one in (by_sizes, by_dims) if fits(one, [pattern])]
    yield from (one for one in taken if sum(x.numel() for x in one.tensors()) <= MOST_ELEMENTS)


def _of_shape(leaf: Any, shape: torch.Size, pattern: Pattern) -> Any:
    """A tensor of some shape with the pattern's sizes, and with as many dimensions; anything else as it is."""
    if not isinstance(leaf, torch.Tensor) or leaf.shape != shape:
        return leaf
    changed = leaf.detach()
    while changed.dim() > len(pattern):
        changed = changed[0]
    while changed.dim() < len(pattern):
        changed = changed.unsqueeze(0)
        changed = stretched(changed, 0, pattern[0] or 3)
    sizes = [there if wanted is None else wanted for there, wanted in zip(changed.shape, pattern, strict=True)]
    if torch.Size(sizes).numel() > MOST_ELEMENTS:
        return leaf
    for dim, size in enumerate(sizes):
        if changed.shape[dim] != size:
            changed = stretched(changed, dim, size)
    changed = changed.clone(memory_format=torch.contiguous_format)
    return changed.requires_grad_(leaf.requires_grad)


__all__ = ["MOST_ELEMENTS", "Pattern", "fits", "fits_shape", "within", "worded"]
