"""Calls with other values: at the edges, small and great."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import torch

from dual_object.adapters.torch.kernels.samples.sample import (
    Sample,
    floats,
    has_floats,
    near_one,
    on_one,
    spread_over,
    without_gradient,
)
from dual_object.adapters.torch.kernels.samples.sizes import changed_whole, lengthened

#: Near the greatest number of float32.
HUGE = 3e38
#: Values that elements are given, by what they are called.
EDGES = {
    "NaN": (float("nan"),),
    "infinity": (float("inf"),),
    "-infinity": (float("-inf"),),
    "zeros": (0.0, -0.0),
    "subnormal": (1e-42, -1e-42),
    "huge": (HUGE, -HUGE),
    "halves": (0.5, 1.5, 2.5, -0.5, -1.5),
    "kinks": (3.0, -3.0, 1.0, -1.0, 6.0, -6.0, 2.0, -2.0),
}
#: A dimension so long that kernels go over it in blocks, and where along it NaN comes.
LONG, FAR_ALONG = 1025, 4 * 1025 // 5
#: What whole tensors are multiplied by.
SCALES = {"large": 100.0, "larger": 1e4, "small": 1e-5}
#: What is added to whole tensors: what is far from zero, and close together.
OFFSETS = {"far from zero": 1000.0}


def of_values(plain: Sequence[Sample], whole: bool) -> Iterator[Sample]:
    """Some elements of each tensor, of one after the other, and all of them, with values at the edges."""
    for sample in spread_over(plain, 6 if whole else 2, has_floats):
        count = len(sample.tensors())
        for detail, values in EDGES.items():
            for turn in range(min(count, 3)):
                yield on_one(sample, turn, partial(_sprinkled, values=values), "edges", detail)
        if (row := sample.tensors()[0]).dim() and row.numel() and all(x.shape == row.shape for x in sample.tensors()):
            longer = changed_whole(sample, partial(lengthened, dim=row.dim() - 1, new=LONG), "edges", "")
            yield on_one(longer, 0, _nan_far_along, "edges", "NaN far along")
        for detail, scale in SCALES.items():
            yield sample.changed(floats(partial(torch.mul, other=scale)), "magnitude", detail)
        for detail, offset in OFFSETS.items():
            yield on_one(sample, 0, partial(torch.add, other=offset), "magnitude", detail)
        yield sample.changed(floats(near_one), "magnitude", "near one")
        yield sample.changed(floats(torch.zeros_like), "edges", "all zero")
        yield sample.changed(floats(torch.ones_like), "edges", "all equal")
        yield sample.changed(floats(lambda x: (x * 2).round()), "edges", "ties")
        yield sample.changed(floats(lambda x: torch.full_like(x, float("-inf"))), "edges", "all -infinity")
    for sample in spread_over(plain, 1, _of_two_alike):
        yield from _the_same_twice(sample)
    whole_numbers = [s for s in plain if any(_is_integer(x) and x.numel() for x in s.tensors()) and not has_floats(s)]
    for sample in whole_numbers[:2]:
        for detail in ("least", "greatest"):
            yield sample.changed(partial(_integers, greatest=detail == "greatest"), "edges", detail)


def _nan_far_along(x: torch.Tensor) -> torch.Tensor:
    """In the first row, along the last dimension."""
    changed = x.clone(memory_format=torch.contiguous_format)
    changed.view(-1, LONG)[0, FAR_ALONG] = float("nan")
    return changed


def _the_same_twice(sample: Sample) -> Iterator[Sample]:
    """One tensor in the place of two of one shape, with ordinary values, and with such as have no quotient."""
    first = next(x for x in sample.tensors() if x.is_floating_point() and x.numel() > 1)
    for detail, values in {"": (), "NaN": EDGES["NaN"], "infinity": EDGES["infinity"], "zeros": EDGES["zeros"]}.items():
        one = _sprinkled(first, values).requires_grad_(first.requires_grad) if values else first

        def leaf(item: Any, one: torch.Tensor = one) -> Any:
            alike = isinstance(item, torch.Tensor) and item.shape == first.shape and item.dtype == first.dtype
            return one if alike else item

        role = "edges" if detail else "arguments"
        changed = sample.changed(leaf, role, f"{detail}, one tensor given twice".removeprefix(", "))
        yield changed
        yield from without_gradient(changed)


def _of_two_alike(sample: Sample) -> bool:
    """Whether two floating tensors of one shape are given, of several elements."""
    given = [(x.shape, x.dtype) for x in sample.tensors() if x.is_floating_point() and x.numel() > 1]
    return given[:1] == given[1:2] != []


def _is_integer(x: torch.Tensor) -> bool:
    return not (x.is_floating_point() or x.is_complex() or x.dtype == torch.bool)


def _integers(leaf: Any, *, greatest: bool) -> Any:
    """Half of the elements of a tensor of integers at the end of what they may be."""
    if not isinstance(leaf, torch.Tensor) or not _is_integer(leaf):
        return leaf
    limits, changed = torch.iinfo(leaf.dtype), leaf.clone(memory_format=torch.contiguous_format)
    changed.view(-1)[: max(1, leaf.numel() // 2)] = limits.max if greatest else limits.min
    return changed


def _sprinkled(x: torch.Tensor, values: Sequence[float]) -> torch.Tensor:
    """Every third element, the last one too, with one of the values after the other; NaN is given to one alone, for
    of two NaN nobody says which is the greater, and huge numbers to two, for of three the sum depends on its order.
    """
    changed = x.detach().clone(memory_format=torch.contiguous_format)
    flat = changed.view(-1)
    top = torch.finfo(x.dtype).max if not x.is_complex() else HUGE
    if values[0] == HUGE:
        values = [max(-top, min(top, value)) for value in values]
        places = [0, flat.numel() - 1]
    else:
        places = [*range(0, flat.numel(), 3), flat.numel() - 1] if values[0] == values[0] else [flat.numel() // 2]
    for turn, place in enumerate(places):
        flat[place] = values[turn % len(values)]
    return changed
