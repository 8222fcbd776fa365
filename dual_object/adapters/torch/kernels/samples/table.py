"""PyTorch's own table of ops and the samples that it tests them with."""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch

from dual_object.adapters.torch.kernels.captured import captured
from dual_object.adapters.torch.kernels.given import sample_inputs
from dual_object.adapters.torch.kernels.naming import OPERATORS, schemas
from dual_object.adapters.torch.kernels.samples.optional import optional, without_defaults
from dual_object.adapters.torch.kernels.samples.sample import Sample, leaves, spread
from dual_object.adapters.torch.kernels.samples.spelled import spelled
from dual_object.errors import TargetError

#: Elements of all tensors of a sample.
MOST_ELEMENTS = 1 << 14


def named(path: str) -> Any:
    """PyTorch's table entry for the op at a path below `torch`, such as `nn.functional.softmax`. Raises TargetError."""
    with warnings.catch_warnings(), silent():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db
    if path.startswith(OPERATORS):
        return captured(path, op_db)
    last = path.rpartition(".")[2]
    aliases = {path, last}
    for wanted in (
        lambda info: info.name == path,
        lambda info: path in {alias.name for alias in info.aliases},
        lambda info: info.name.rpartition(".")[2] == last,
        lambda info: aliases & {alias.name.rpartition(".")[2] for alias in info.aliases},
    ):
        found = [info for info in op_db if wanted(info)]
        if found:
            return next((info for info in found if not info.variant_test_name), found[0])
    raise TargetError(
        f"PyTorch has no samples of torch.{path}, but a kernel can be judged for any op of its table op_db [--like]"
    )


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Without the log, in which PyTorch's own tests say that there is no GPU."""
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


def dtype_name(dtype: torch.dtype) -> str:
    """`float32`."""
    return str(dtype).removeprefix("torch.")


def drawn_from(info: Any, dtype: torch.dtype) -> list[Sample]:
    """The entry's samples of a dtype that a Program can hold; where all entries of an op are of variants of it, such as
    the modes of `interpolate`, those of every variant.
    """
    first = _drawn_from(info, dtype)
    if not first or not getattr(info, "variant_test_name", ""):
        return first
    others = (_drawn_from(other, dtype) for other in _variants(info) if dtype in other.supported_dtypes("cpu"))
    return [*first, *(sample for drawn in others for sample in drawn if _alike(sample, first))]


def _variants(info: Any) -> list[Any]:
    """The other entries of an op."""
    from torch.testing._internal.common_methods_invocations import op_db

    return [other for other in op_db if other.name == info.name and other is not info]


def _alike(sample: Sample, others: Sequence[Sample]) -> bool:
    """Whether it is called as others are: `max` of two tensors is another function than `max` along a dimension."""

    def tensors(one: Sample) -> list[bool]:
        return [isinstance(leaf, torch.Tensor) for leaf in one.args]

    return any(all(x == y for x, y in zip(tensors(sample), tensors(other), strict=False)) for other in others)


def _drawn_from(info: Any, dtype: torch.dtype) -> list[Sample]:
    differentiable = info.supports_autograd and dtype in info.supported_backward_dtypes("cpu")
    given = sample_inputs(info, dtype, differentiable=differentiable)
    parameters = optional(info.name)
    drawn = [
        without_defaults(spelled(info, Sample((sample.input, *sample.args), dict(sample.kwargs))), parameters)
        for sample in given
    ]
    return [_by_its_shapes(sample) for sample in drawn if storable(sample) and not unordered(info, sample)]


def unordered(info: Any, sample: Sample) -> bool:
    """Whether it asks for results in any order, `sorted=False`: those of two functions cannot be held together."""
    for schema in schemas(info.name):
        names = [argument.name for argument in schema.arguments]
        if "sorted" in names:
            place = names.index("sorted")
            given = sample.args[place : place + 1] or (sample.kwargs.get("sorted", True),)
            return given[0] is False
    return False


def _by_its_shapes(sample: Sample) -> Sample:
    """A plain sample, or one of shapes that few think of."""
    tensors = sample.tensors()
    if any(not x.numel() for x in tensors):
        return replace(sample, role="shape", detail="size 0")
    return replace(sample, role="shape", detail="0-dim") if any(not x.dim() for x in tensors[:1]) else sample


def storable(sample: Sample) -> bool:
    """Whether a Program can hold it: small strided tensors, and plain values."""
    tensors = sample.tensors()
    kept = (type(None), bool, int, float, complex, str, torch.dtype, torch.Tensor, torch.memory_format)
    plain = all(isinstance(leaf, kept) for leaf in leaves((sample.args, sample.kwargs)))
    dense = all(x.layout == torch.strided and not x.is_nested and x.device.type == "cpu" for x in tensors)
    return plain and dense and sum(x.numel() for x in tensors) <= MOST_ELEMENTS


def chosen(drawn: Sequence[Sample], most: int) -> list[Sample]:
    """At most so many: one of each form first, and no two that are all alike."""
    forms: dict[Hashable, Sample] = {}
    for sample in drawn:
        forms.setdefault(_form(sample), sample)
    first = [*forms.values()]
    if len(first) > most:
        return spread(first, most)
    others = [sample for sample in drawn if all(sample is not one for one in first)]
    return [*first, *others[: most - len(first)]]


def _form(sample: Sample) -> Hashable:
    told = [
        (leaf.dim(), 0 in leaf.shape, leaf.dtype) if isinstance(leaf, torch.Tensor) else (type(leaf), leaf)
        for leaf in leaves((sample.args, sample.kwargs))
    ]
    return (*told, *sample.kwargs)
