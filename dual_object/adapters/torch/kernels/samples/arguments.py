"""Calls with other arguments: flags, dimensions, keywords left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dual_object.adapters.torch.kernels.samples.sample import Sample, with_argument
from dual_object.adapters.torch.kernels.samples.table import unordered


def of_arguments(info: Any, plain: Sequence[Sample]) -> Iterator[Sample]:
    """Each flag the other way round, each dimension counted from the other end, and each keyword left out."""
    yield from (changed for changed in _otherwise(plain) if not unordered(info, changed))


def _otherwise(plain: Sequence[Sample]) -> Iterator[Sample]:
    for sample in plain:
        for place, value in sample.places():
            for other in _others(value, sample):
                yield with_argument(sample, place, other, f"{place}={other!r}")
        for left in sample.kwargs:
            kwargs = {name: value for name, value in sample.kwargs.items() if name != left}
            yield Sample(sample.args, kwargs, "arguments", f"without {left}")


def _others(value: Any, sample: Sample) -> Iterator[Any]:
    if isinstance(value, bool):
        yield not value
    elif type(value) is int:
        ranks = {x.dim() for x in sample.tensors()}
        yield from {value - rank if value >= 0 else value + rank for rank in ranks if -rank <= value < rank}
    elif type(value) in (tuple, list) and value and all(type(item) is int for item in value):
        ranks = {x.dim() for x in sample.tensors()}
        for rank in ranks:
            if all(-rank <= item < rank for item in value):
                yield type(value)(item - rank if item >= 0 else item for item in value)
