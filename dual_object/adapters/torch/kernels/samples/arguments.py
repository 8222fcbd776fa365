"""Calls with other arguments: flags, numbers, dimensions, keywords left out, and what no sample gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import torch

from dual_object.adapters.torch.kernels.samples.optional import optional
from dual_object.adapters.torch.kernels.samples.sample import (
    Sample,
    detached,
    has_floats,
    on_one,
    spread,
    spread_over,
    with_argument,
)
from dual_object.adapters.torch.kernels.samples.spelled import function_of
from dual_object.adapters.torch.kernels.samples.table import unordered

#: How a call is told of in which a plain number stands for a tensor.
AS_NUMBER = "as a number"
#: Of so many samples numbers are changed, and what they leave out is given.
_FEW = 4
#: Flags by which a function is another one: it writes to its input, or learns.
_MODES = frozenset({"inplace", "training", "train", "use_input_stats"})


def of_arguments(info: Any, path: str, plain: Sequence[Sample]) -> Iterator[Sample]:
    """Each flag the other way round, each dimension counted from the other end, and each keyword left out; numbers
    doubled and halved, one by one and two at once; and the optional parameters that a sample leaves out.
    """
    yield from (changed for changed in _otherwise(plain) if not unordered(info, changed))
    few = spread(plain, _FEW)
    for sample in few:
        yield from _with_numbers(sample)
        yield from _as_numbers(sample)
    parameters = optional(path)
    for sample in few[:1]:
        yield from _by_default(sample, parameters)
    for sample in few:
        yield from (changed for changed in _given(sample, parameters) if not unordered(info, changed))
    for sample in spread_over(plain, 1, lambda s: has_floats(s) and len(s.tensors()) > 1):
        yield from _of_no_weight(function_of(info), sample, parameters)


def _of_no_weight(function: Any, sample: Sample, parameters: Mapping[str, tuple[int, Any]]) -> Iterator[Sample]:
    """A number as 0, and NaN in the first tensor, of which no NaN comes: with `beta=0` `addmm` ignores its input,
    whatever that holds. What `alpha=0` makes of the others is nobody's promise.
    """
    given = [place for place, value in sample.places() if type(value) in (int, float)]
    left = [name for name, default in _left_out(sample, parameters).items() if type(default) in (int, float)]
    for place in (*given, *left):
        weightless = with_argument(sample, place, 0, "")
        changed = on_one(weightless, 0, _all_nan, "arguments", f"{place}=0, and NaN in the first tensor")
        if _has_nan(changed.tensors()[0]) and _without_nan(function, changed):
            yield changed


def _without_nan(function: Any, sample: Sample) -> bool:
    """Whether it gives one tensor, in which there is no NaN."""
    try:
        with torch.no_grad():
            result = function(*sample.args, **sample.kwargs)
    except Exception:  # PyTorch takes no 0 there, whatever it says: group_norm divides by it
        return False
    return isinstance(result, torch.Tensor) and result.is_floating_point() and not _has_nan(result)


def _has_nan(x: torch.Tensor) -> bool:
    return bool(x.isnan().any())


def _all_nan(x: torch.Tensor) -> torch.Tensor:
    return torch.full_like(x, float("nan"))


def _with_numbers(sample: Sample) -> Iterator[Sample]:
    """Each number as others, of several in a row the first, and of two numbers both."""
    numbers = {place: value for place, value in sample.places() if type(value) in (int, float)}
    for place, value in numbers.items():
        for other in _other_numbers(value, sample):
            yield with_argument(sample, place, other, f"{place}={other!r}")
    for place, value in sample.places():
        if type(value) in (tuple, list) and value and all(type(item) is int for item in value):
            other = type(value)((value[0] + 1, *value[1:]))
            yield with_argument(sample, place, other, f"{place}={other!r}")
    for (one, value), (two, second) in combinations(numbers.items(), 2):
        changed = with_argument(sample, one, value * 2, "")
        yield with_argument(changed, two, second * 2, f"{one}={value * 2!r}, {two}={second * 2!r}")


def _as_numbers(sample: Sample) -> Iterator[Sample]:
    """Floating tensors but for the first argument as plain numbers, one by one and all of them."""
    tensors = {
        place: value
        for place, value in [*sample.places()][1:]
        if isinstance(value, torch.Tensor) and value.is_floating_point() and value.numel()
    }
    every = sample
    for place, value in tensors.items():
        number = value.detach().reshape(-1)[value.numel() // 2].item()
        yield with_argument(sample, place, number, f"{place} {AS_NUMBER}")
        every = with_argument(every, place, number, f"all {AS_NUMBER}")
    if len(tensors) > 1:
        yield every


def _other_numbers(value: float, sample: Sample) -> Iterator[float]:
    if type(value) is int:
        ranks = {x.dim() for x in sample.tensors()}
        # What may be a dimension becomes none that is not there.
        last = any(-rank <= value < rank for rank in ranks) and value + 1 in {0, *ranks}
        yield value - 1 if last else value + 1
        if value > -1 and not last:
            yield -1
    elif abs(value) < 1e6:
        yield from dict.fromkeys((value * 2, value / 2))


def _given(sample: Sample, parameters: Mapping[str, tuple[int, Any]]) -> Iterator[Sample]:
    """What a sample leaves out, otherwise than it is by default; and two such numbers at once."""
    left = _left_out(sample, parameters)
    for name, default in left.items():
        for other in _instead(name, default, sample):
            # What needs a gradient must not be written to.
            given = sample.changed(detached, "", "") if name == "inplace" else sample
            yield with_argument(given, name, other, f"{name}={other!r}", _role(name))
    numbers = [name for name, default in left.items() if type(default) in (int, float)]
    for one, two in combinations(numbers, 2):
        changed = with_argument(sample, one, 2, "")
        yield with_argument(changed, two, 1.5, f"{one}=2, {two}=1.5")


def _by_default(sample: Sample, parameters: Mapping[str, tuple[int, Any]]) -> Iterator[Sample]:
    """Numbers and words that a sample leaves out, given as they are by default."""
    left = _left_out(sample, parameters)
    said = {name: default for name, default in left.items() if type(default) in (int, float, str)}
    if said:
        kwargs = {**sample.kwargs, **said}
        yield replace(sample, kwargs=kwargs, role="arguments", detail=f"{', '.join(said)} by default")


def _left_out(sample: Sample, parameters: Mapping[str, tuple[int, Any]]) -> dict[str, Any]:
    """The parameters that a sample does not give, with their defaults."""
    return {
        name: default
        for name, (place, default) in parameters.items()
        if name not in sample.kwargs and not 0 <= place < len(sample.args)
    }


def _role(place: int | str) -> str:
    return "modes" if place in _MODES else "arguments"


def _instead(name: str, default: Any, sample: Sample) -> Iterator[Any]:
    """What a parameter may be instead of its default: PyTorch says where it may not."""
    if isinstance(default, bool):
        yield not default
    elif type(default) in (int, float):
        yield from (other for other in dict.fromkeys((default + 1, 2, 0.5)) if other != default)
    elif default is None and name == "dtype":
        yield torch.float64 if any(x.is_floating_point() for x in sample.tensors()) else torch.int32
    elif default is None and name in ("dim", "axis"):
        yield from (0, -1)


def _otherwise(plain: Sequence[Sample]) -> Iterator[Sample]:
    for sample in plain:
        for place, value in sample.places():
            for other in _others(value, sample):
                yield with_argument(sample, place, other, f"{place}={other!r}", _role(place))
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
