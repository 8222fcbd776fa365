"""Calls whose tensors lie otherwise in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from dual_object.adapters.torch.kernels.samples.sample import Sample, on_one, spread_over, without_gradient


def transposed(x: torch.Tensor) -> torch.Tensor:
    """The same values, with the dimensions in memory the other way round."""
    order = tuple(reversed(range(x.dim())))
    return x.permute(order).contiguous().permute(order)


def strided(x: torch.Tensor) -> torch.Tensor:
    """The same values, every second element of its memory along the last dimension."""
    if not x.dim():
        return x
    wide = x.new_zeros((*x.shape[:-1], 2 * x.shape[-1]))
    wide[..., ::2] = x
    return wide[..., ::2]


def swapped(x: torch.Tensor) -> torch.Tensor:
    """The same values, with the last two dimensions in memory the other way round."""
    return x.transpose(-1, -2).contiguous().transpose(-1, -2) if x.dim() > 1 else x


def padded(x: torch.Tensor) -> torch.Tensor:
    """The same values, in rows each of which is followed by three more elements."""
    if x.dim() < 2:
        return x
    wide = x.new_zeros((*x.shape[:-1], x.shape[-1] + 3))
    wide[..., : x.shape[-1]] = x
    return wide[..., : x.shape[-1]]


def channels_last(x: torch.Tensor) -> torch.Tensor:
    """The same values, with the second dimension innermost in memory."""
    return x.movedim(1, -1).contiguous().movedim(-1, 1) if x.dim() > 2 else x


def expanded(x: torch.Tensor) -> torch.Tensor:
    """The first of each along the first dimension, again and again in the same memory."""
    return x[:1].expand(x.shape) if x.dim() and x.shape[0] > 1 else x


def offset(x: torch.Tensor) -> torch.Tensor:
    """The same values, three elements after the beginning of their memory."""
    longer = torch.cat([x.new_zeros(3), x.reshape(-1)])
    return longer[3:].view(x.shape)


#: Of tensors that are conjugated when they are read.
CONJUGATED = "conjugated"
#: Of tensors of which several elements lie in one place.
EXPANDED = "expanded"
LAYOUTS = {
    "transposed": transposed,
    "strided": strided,
    "swapped": swapped,
    "padded": padded,
    "channels last": channels_last,
    EXPANDED: expanded,
    "offset": offset,
}


def of_layouts(plain: Sequence[Sample], whole: bool) -> Iterator[Sample]:
    """All tensors, and the first alone, lying otherwise in memory."""

    def lies(sample: Sample) -> bool:
        return any(x.dim() > 1 and x.numel() > 1 for x in sample.tensors())

    chosen = spread_over(plain, 8 if whole else 3, lies)
    chosen = chosen or spread_over(plain, 2, lambda sample: any(x.dim() and x.numel() > 1 for x in sample.tensors()))
    for sample in chosen:
        for detail, lay in LAYOUTS.items():
            if not any(_lies_otherwise(x, lay(x.detach())) for x in sample.tensors()):
                continue

            def leaf(item: Any, lay: Callable[[torch.Tensor], torch.Tensor] = lay) -> Any:
                if not isinstance(item, torch.Tensor):
                    return item
                return lay(item.detach()).requires_grad_(item.requires_grad)

            changed = sample.changed(leaf, "layout", detail)
            yield changed
            yield from without_gradient(changed)
        yield on_one(sample, 0, transposed, "layout", "the first transposed")


def conjugated(drawn: Sequence[Sample]) -> Iterator[Sample]:
    """All complex tensors of a sample, whose memory holds the conjugates of what they are."""
    for sample in spread_over(drawn, 1, lambda s: any(x.is_complex() and x.numel() > 1 for x in s.tensors())):

        def leaf(item: Any) -> Any:
            lazily = isinstance(item, torch.Tensor) and item.is_complex()
            return item.detach().conj().requires_grad_(item.requires_grad) if lazily else item

        changed = sample.changed(leaf, "layout", CONJUGATED)
        yield changed
        yield from without_gradient(changed)


def _lies_otherwise(x: torch.Tensor, laid: torch.Tensor) -> bool:
    return (x.stride(), x.storage_offset()) != (laid.stride(), laid.storage_offset())
