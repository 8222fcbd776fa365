"""Calls that an op refuses."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Any

import torch

from dual_object.adapters.torch.kernels.given import error_inputs
from dual_object.adapters.torch.kernels.samples.sample import Sample, on_one, spread_over, with_argument
from dual_object.adapters.torch.kernels.samples.spelled import spelled
from dual_object.adapters.torch.kernels.samples.table import storable


def of_refusals(info: Any, plain: Sequence[Sample], dtypes: Collection[torch.dtype]) -> Iterator[Sample]:
    """What PyTorch's own tests expect it to refuse, of these dtypes and of those that tensors beside them have, such as
    indices; and dimensions that no tensor has.
    """
    known = {*dtypes, *(x.dtype for sample in plain for x in sample.tensors())}
    for error in error_inputs(info):
        given = error.sample_input
        sample = Sample((given.input, *given.args), dict(given.kwargs), "errors", str(error.error_type.__name__))
        sample = spelled(info, sample)
        if storable(sample) and all(x.dtype in known and x.numel() for x in sample.tensors()):
            yield sample
    for sample in spread_over(plain, 2, lambda s: len(s.tensors()) > 1):
        yield from _unfitting(sample)
    for sample in spread_over(plain, 2, lambda s: any(x.dtype == torch.int64 and x.numel() for x in s.tensors()[1:])):
        for index in (-1, 1 << 20):
            yield sample.changed(partial(_first_as, index=index), "errors", f"the index {index}")
    for sample in spread_over(plain, 3, lambda s: any("dim" in str(name) for name in s.kwargs) or len(s.args) > 1):
        for place, value in sample.places():
            if not (isinstance(place, int) or "dim" in place):
                continue
            if type(value) is int:
                yield with_argument(sample, place, 64, "a dimension that is not there", "errors")
            elif type(value) in (tuple, list) and value and all(type(item) is int for item in value):
                wrong = type(value)((64, *value[1:]))
                yield with_argument(sample, place, wrong, "a dimension that is not there", "errors")
                if not isinstance(place, int):  # `(2, 2, 2)` may be the size of a kernel
                    twice = type(value)((value[0], *value))
                    yield with_argument(sample, place, twice, "a dimension twice", "errors")


def _first_as(leaf: Any, index: int) -> Any:
    """A tensor of whole numbers with another first one."""
    if not isinstance(leaf, torch.Tensor) or leaf.dtype != torch.int64 or not leaf.numel():
        return leaf
    changed = leaf.clone(memory_format=torch.contiguous_format)
    changed.view(-1)[0] = index
    return changed


def _unfitting(sample: Sample) -> Iterator[Sample]:
    """Each size of the second and third tensor greater by one; and of the first three as 1, which broadcasts where an
    op allows it.
    """
    for turn, x in [*enumerate(sample.tensors())][:3]:
        for dim, size in enumerate(x.shape):
            if size > 1:
                wider = torch.arange(size + 1) % size
                change = partial(torch.index_select, dim=dim, index=wider)
                if turn:
                    yield on_one(sample, turn, change, "errors", "sizes that do not fit")
                change = partial(torch.narrow, dim=dim, start=0, length=1)
                yield on_one(sample, turn, change, "errors", "a size of 1 among others")
