"""Samples as people call a function.

PyTorch's table has its own way of calling some: its entry of `torch.where` is `lambda self, condition, other:
torch.where(condition, self, other)`, and its samples are the arguments of the lambda.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

from torch.overrides import TorchFunctionMode

from dual_object.adapters.torch.kernels.naming import found_at
from dual_object.adapters.torch.kernels.samples.sample import Sample


def function_of(info: Any) -> Any:
    """The function that an entry of PyTorch's table is of: what has its name below `torch`, or the entry's own."""
    function = found_at(info.name)
    return info.op if function is None else function


def spelled(info: Any, sample: Sample) -> Sample:
    """A sample of an entry with the arguments that the entry's own way of calling gives its function; as it is where
    that is the function itself, or calls it in no way that is seen.
    """
    if getattr(info.op, "__name__", "") != "<lambda>":
        return sample
    # What PyTorch refuses was called before it did so.
    with _FirstCall(function_of(info)) as first, contextlib.suppress(TypeError, ValueError, RuntimeError, IndexError):
        info.op(*sample.args, **sample.kwargs)
    return sample if first.args is None else replace(sample, args=first.args, kwargs=first.kwargs)


class _FirstCall(TorchFunctionMode):
    """What a function is called with first."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self._function = function
        self.args: tuple[Any, ...] | None = None
        self.kwargs: dict[str, Any] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is self._function and self.args is None:
            self.args, self.kwargs = tuple(args), dict(kwargs or {})
        return func(*args, **(kwargs or {}))


__all__ = ["function_of", "spelled"]
