"""Calls in other dtypes, and of dtypes that meet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch

from dual_object.adapters.torch.kernels.samples.sample import Sample, floats, has_floats, near_one, spread_over
from dual_object.adapters.torch.kernels.samples.sizes import resized
from dual_object.adapters.torch.kernels.samples.table import chosen, drawn_from, dtype_name

#: Sums of so many numbers near one are as exact in half precision as their rounding, or twice too small.
LONG_ROW = 4097
#: How a call is told of whose integers no floating dtype holds.
GREATEST_INTEGERS = "int64 beyond 2**53"
#: So many samples of each other dtype, and so many where everything is asked for.
FEW_OF_DTYPE, MOST_OF_DTYPE = 3, 8


def of_dtypes(
    info: Any,
    plain: Sequence[Sample],
    others: Sequence[torch.dtype],
    whole: bool,
    within: Callable[[Sequence[Sample]], list[Sample]],
) -> Iterator[Sample]:
    """Samples of every other dtype, and of two dtypes that meet."""
    for dtype in sorted(others, key=dtype_name):
        drawn = drawn_from(info, dtype)
        for sample in chosen(within(drawn), MOST_OF_DTYPE if whole else FEW_OF_DTYPE):
            yield replace(sample, role="dtype", detail=dtype_name(dtype))
        if dtype in (torch.float16, torch.bfloat16):
            yield from _long(drawn, dtype_name(dtype))
    if torch.int64 in others:
        for sample in spread_over(drawn_from(info, torch.int64), 2, lambda s: any(x.numel() > 1 for x in s.tensors())):
            yield sample.changed(_beyond_float64, "dtype", GREATEST_INTEGERS)
    if type(info).__name__ != "BinaryUfuncInfo":  # what others make of two dtypes is no rule of theirs
        return
    for sample in spread_over(plain, 2, lambda s: has_floats(s) and len(s.tensors()) > 1):
        for dtype in (dtype for dtype in (torch.float64, torch.int32) if dtype in others):
            tensors = sample.tensors()
            last = tensors[-1]

            def leaf(item: Any, last: torch.Tensor = last, dtype: torch.dtype = dtype) -> Any:
                if item is not last or not item.is_floating_point():
                    return item
                changed = (item.detach() * (1 if dtype.is_floating_point else 3)).to(dtype)
                return changed.requires_grad_(item.requires_grad) if dtype.is_floating_point else changed

            yield sample.changed(leaf, "dtype", f"{dtype_name(tensors[0].dtype)} meets {dtype_name(dtype)}")


def _long(drawn: Sequence[Sample], name: str) -> Iterator[Sample]:
    """Rows so long that sums of numbers near one have no place in a narrow dtype on the way."""
    for sample in spread_over(drawn, 1, lambda s: any(x.dim() and x.numel() > 1 for x in s.tensors())):
        size = next(x.shape[-1] for x in sample.tensors() if x.dim() and x.numel() > 1)
        for longer in resized(sample, size, LONG_ROW, "dtype", f"{name}, {LONG_ROW} numbers near one"):
            yield longer.changed(floats(near_one), longer.role, longer.detail)


def _beyond_float64(leaf: Any) -> Any:
    """Half of the elements of a tensor of int64 so great that float64 has no such number."""
    if not isinstance(leaf, torch.Tensor) or leaf.dtype != torch.int64:
        return leaf
    changed = leaf.clone(memory_format=torch.contiguous_format)
    changed.view(-1)[::2] = 2**53 + 1
    return changed
