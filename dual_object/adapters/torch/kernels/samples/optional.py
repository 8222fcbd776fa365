"""What of an op may be left out of a call: parameters with a default, and keywords that only promise what follows."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch

from dual_object.adapters.torch.kernels.naming import found_at, schemas
from dual_object.adapters.torch.kernels.samples.sample import Sample

#: Parameters that are about no value: where a result goes, how a warning is worded, what is older than another.
_ASIDE = frozenset({"out", "generator", "names", "size_average", "reduce", "sparse", "sorted", "stable"})


def optional(path: str) -> Mapping[str, tuple[int, Any]]:
    """The optional parameters of the function at a path below `torch`, each with its place and its default; those that
    only a keyword gives have the place -1.
    """
    try:
        found = [*_of_signature(inspect.signature(found_at(path)))]
    except (TypeError, ValueError):  # of what is written in C++ Python knows no signature
        found = [*_of_schemas(path)]
    return {name: (place, default) for name, place, default in found if not (name in _ASIDE or name.startswith("_"))}


def _of_signature(signature: inspect.Signature) -> Iterator[tuple[str, int, Any]]:
    for place, (name, parameter) in enumerate(signature.parameters.items()):
        if parameter.default is not parameter.empty:
            yield name, -1 if parameter.kind is parameter.KEYWORD_ONLY else place, parameter.default


def _of_schemas(path: str) -> Iterator[tuple[str, int, Any]]:
    """What every overload that returns new tensors has, the first one's default."""
    known: set[str] = set()
    for schema in schemas(path):
        if any(argument.name == "out" or argument.alias_info is not None for argument in schema.arguments):
            continue
        for place, argument in enumerate(schema.arguments):
            if argument.has_default_value() and argument.name not in known:
                known.add(argument.name)
                yield argument.name, -1 if argument.kwarg_only else place, argument.default_value


def without_defaults(sample: Sample, parameters: Mapping[str, tuple[int, Any]]) -> Sample:
    """A sample without the keywords that give one of the optional `parameters` its default, as people call a function:
    a kernel of `gelu(x)` may have no `approximate`.
    """
    kwargs = {name: value for name, value in sample.kwargs.items() if not _is_default(value, parameters.get(name))}
    return replace(sample, kwargs=kwargs)


def _is_default(value: Any, parameter: tuple[int, Any] | None) -> bool:
    if parameter is None:
        return False
    _, default = parameter
    return value is default or (
        isinstance(value, (bool, int, float, str)) and type(value) is type(default) and value == default
    )


def without_promises(function: Any, sample: Sample) -> Sample:
    """A sample without the keywords that name a size which follows from the others, such as `output_size` of
    `repeat_interleave`: where anything else is changed, they would tell an untruth, which PyTorch does not always see.
    """
    for name, value in sample.kwargs.items():
        if "size" not in name or type(value) is not int:
            continue
        kwargs = {other: kept for other, kept in sample.kwargs.items() if other != name}
        try:
            told, found = function(*sample.args, **sample.kwargs), function(*sample.args, **kwargs)
        except (TypeError, ValueError, RuntimeError):  # it is needed, and so it is no mere promise
            continue
        if isinstance(told, torch.Tensor) and told.shape == found.shape and value in told.shape:
            return without_promises(function, Sample(sample.args, kwargs, sample.role, sample.detail))
    return sample


__all__ = ["optional", "without_defaults", "without_promises"]
