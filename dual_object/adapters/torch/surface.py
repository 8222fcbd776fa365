"""The ops of PyTorch, by path: what a report may reproach a run with not having tested."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import torch

#: Ops that `torch.overrides` does not list: they make a tensor out of none, or of one that only lends its dtype.
_CREATORS = (
    "arange",
    "as_tensor",
    "bartlett_window",
    "blackman_window",
    "empty",
    "eye",
    "fft.fftfreq",
    "fft.rfftfreq",
    "full",
    "hamming_window",
    "hann_window",
    "kaiser_window",
    "linspace",
    "logspace",
    "normal",
    "ones",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "tensor",
    "tril_indices",
    "triu_indices",
    "vander",
    "zeros",
    "Tensor.new_empty",
    "Tensor.new_full",
    "Tensor.new_ones",
    "Tensor.new_tensor",
    "Tensor.new_zeros",
)
#: Two ops that it leaves out for reasons of its own.
_UNLISTED = ("nn.functional.hardsigmoid", "nn.functional.hardswish")
#: What takes a tensor and is no op: it steers autograd, tells of memory, or needs hardware that a run may lack.
_NO_OPS = frozenset(
    {
        "backward",
        "const_data_ptr",
        "cuda",
        "data_ptr",
        "element_size",
        "get_device",
        "ipu",
        "is_pinned",
        "is_set_to",
        "is_shared",
        "module_load",
        "pin_memory",
        "record_stream",
        "register_hook",
        "register_post_accumulate_grad_hook",
        "requires_grad_",
        "retain_grad",
        "set_",
        "share_memory_",
        "storage_offset",
        "storage_type",
        "untyped_storage",
        "xpu",
    }
)
#: Modules that hold others, and one that needs a group of processes.
_NO_OP_MODULES = frozenset({"Sequential", "SyncBatchNorm"})


def op_paths() -> list[str]:
    """Paths below `torch` of all functions, tensor methods and modules that are ops, sorted; takes 12 ms.

    A function or method is an op where `torch.overrides` says that it takes tensors, or where it makes one; a module
    is one where it computes something. The last part of a path is the op's name in a Program.
    """
    return sorted({*_functions(), *_CREATORS, *_UNLISTED, *_modules()})


def _functions() -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it looks at deprecated names too
        known = {
            function for functions in torch.overrides.get_overridable_functions().values() for function in functions
        }
    homes = {
        "": torch,
        "nn.functional.": torch.nn.functional,
        "Tensor.": torch.Tensor,
        "linalg.": torch.linalg,
        "special.": torch.special,
        "fft.": torch.fft,
    }
    for prefix, home in homes.items():
        for name in dir(home):
            value = getattr(home, name)
            if name.startswith("_") or name in _NO_OPS or isinstance(value, type) or not callable(value):
                continue
            if value in known:
                yield prefix + name


def _modules() -> Iterator[str]:
    base = torch.nn.Module
    for name, value in vars(torch.nn).items():
        if not (isinstance(value, type) and issubclass(value, base)) or name in _NO_OP_MODULES:
            continue
        if value.__module__.startswith("torch.nn.modules.") and value.forward is not base.forward:
            yield f"nn.{name}"
