"""What an op is called with: the samples that PyTorch tests it with, and these with other values, sizes, layouts and
dtypes.

No op is known here by name. What a sample is changed to may be no lawful call: PyTorch says so when it is asked.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch

from dual_object.adapters.torch.kernels.given import seeded
from dual_object.adapters.torch.kernels.naming import found_at
from dual_object.adapters.torch.kernels.samples.arguments import of_arguments
from dual_object.adapters.torch.kernels.samples.dtypes import of_dtypes
from dual_object.adapters.torch.kernels.samples.layouts import conjugated, of_layouts
from dual_object.adapters.torch.kernels.samples.optional import without_promises
from dual_object.adapters.torch.kernels.samples.refusals import of_refusals
from dual_object.adapters.torch.kernels.samples.sample import Sample
from dual_object.adapters.torch.kernels.samples.sizes import in_space, of_shapes, of_sizes
from dual_object.adapters.torch.kernels.samples.spelled import function_of
from dual_object.adapters.torch.kernels.samples.table import chosen, drawn_from, dtype_name, named
from dual_object.adapters.torch.kernels.samples.values import of_values
from dual_object.errors import TargetError
from dual_object.replay.adapter import DTYPES

_MAIN = (torch.float32, torch.float64, torch.int64, torch.bool)
#: What kernels are asked for that claim no dtypes, where not everything is asked.
COMMON_DTYPES = ("float16", "bfloat16", "float32", "float64", "int32", "int64", "bool", "complex64")
#: Of the main dtype so many samples, and so many where everything is asked for.
FEW, MOST = 14, 60


def samples(
    path: str,
    *,
    dtypes: Sequence[str] = (),
    whole: bool = False,
    within: Callable[[Sequence[Sample]], list[Sample]] = list,
) -> list[Sample]:
    """What the op at `path` is called with, plain calls first; of these `dtypes` alone, where any are named; `whole`:
    all that there is, not a choice. `within` makes of PyTorch's own samples those that all others come from. Raises
    TargetError where PyTorch has no samples of it.
    """
    info = named(path)
    supported = info.supported_dtypes("cpu")
    known = [dtype for dtype in supported if dtype_name(dtype) in DTYPES]
    asked = dtypes or (DTYPES if whole else COMMON_DTYPES)
    wanted = [dtype for dtype in known if dtype_name(dtype) in asked]
    if not wanted:
        raise TargetError(
            f"dtypes={', '.join(dtypes)}, but torch.{path} takes {', '.join(sorted(map(dtype_name, known)))} [--dtypes]"
        )
    main = next((dtype for dtype in _MAIN if dtype in wanted), wanted[0])
    with seeded(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        told = chosen(within(drawn_from(info, main)), MOST if whole else FEW)
        plain = [without_promises(function_of(info), sample) for sample in told]
        promising = [sample for sample, kept in zip(told, plain, strict=True) if sample is not kept]
        plain += in_space(plain)
        return [
            *plain,
            *(replace(sample, role="arguments", detail="a size that follows") for sample in promising),
            *of_arguments(info, path, [sample for sample in plain if sample.role == "plain"]),
            *of_values(plain, whole),
            *of_layouts(plain, whole),
            *of_shapes(plain, whole),
            *of_sizes(plain, whole),
            *of_dtypes(info, plain, [dtype for dtype in wanted if dtype != main], whole, within),
            *(one for dtype in wanted if dtype.is_complex for one in conjugated(drawn_from(info, dtype))),
            *of_refusals(info, plain, {main, *({torch.int64} & {*wanted})}),
        ]


def takes_its_samples(path: str) -> bool:
    """Whether the function at `path` takes the first of the samples that PyTorch has under its name: `torch.embedding`
    takes none of those of `torch.nn.functional.embedding`.
    """
    try:
        info = named(path)
    except TargetError:
        return False
    dtype = next((dtype for dtype in _MAIN if dtype in info.supported_dtypes("cpu")), torch.float32)
    with seeded(), warnings.catch_warnings(), contextlib.suppress(Exception):  # whatever it says of others'
        warnings.simplefilter("ignore")
        first = drawn_from(info, dtype)[0]
        found_at(path)(*first.args, **first.kwargs)
        return True
    return False


def varied(plain: Sequence[Sample], *, whole: bool = False) -> list[Sample]:
    """Plain samples, and these with other values, layouts, shapes and sizes: all that needs no entry of an op."""
    with seeded(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            *plain,
            *of_values(plain, whole),
            *of_layouts(plain, whole),
            *of_shapes(plain, whole),
            *of_sizes(plain, whole),
        ]
