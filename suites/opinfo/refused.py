"""OpInfo's error inputs: calls that PyTorch's own tests expect it to refuse."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch as pytorch
from entries import MOST_ELEMENTS, STORABLE, Entry, copied, leaves, replaced
from refusals import refused

from autotest import torch
from dual_object.adapters.torch.kernels import given

#: So many error inputs of an entry are used, spread over those that PyTorch refuses in words of their own: each may end
#: the target's process.
USED = 1


#: NumPy holds no more.
MOST_DIMENSIONS = 32


@dataclass(frozen=True, eq=False)
class ErrorInput:
    """One error input of an entry; `error` is OpInfo's: a sample, and the class and words of the exception it wants."""

    entry: Entry
    index: int
    error: Any

    @property
    def id(self) -> str:
        """The entry's id and the input's place among its error inputs."""
        return f"{self.entry.id}-{self.index}"

    @property
    def words(self) -> tuple[type, str]:
        """What PyTorch refuses it with, whatever the sizes that it names."""
        return self.error.error_type, re.sub(r"\d+", "0", str(self.error.error_regex))

    @functools.cached_property
    def leaves(self) -> list[Any]:
        """Everything that the call is given."""
        sample = self.error.sample_input
        return leaves([sample.input, tuple(sample.args), dict(sample.kwargs)])

    @property
    def storable(self) -> bool:
        """Whether a Program of this suite can hold the call: small dense tensors on the CPU, none of them complex."""
        tensors = [leaf for leaf in self.leaves if isinstance(leaf, pytorch.Tensor)]
        return (
            all(isinstance(leaf, (*STORABLE, pytorch.Tensor)) for leaf in self.leaves)
            and all(x.layout == pytorch.strided and not x.is_nested and x.device.type == "cpu" for x in tensors)
            and all(x.numel() and not x.is_complex() and x.ndim <= MOST_DIMENSIONS for x in tensors)
            and sum(x.numel() for x in tensors) <= MOST_ELEMENTS
        )

    def obstacle(self) -> str:
        """Why PyTorch does not refuse the call as OpInfo says; empty where it does."""
        if not self.entry.is_public:
            return "PyTorch has no such function or method in public"
        try:
            self.entry.call(pytorch, self.error.sample_input, functools.partial(replaced, copied))
        except self.error.error_type as error:
            # The exception that OpInfo leaves open is any: what Python says of a method that is not there is none.
            return "PyTorch has no such method" if isinstance(error, AttributeError) else ""
        except Exception as error:
            return f"PyTorch refuses it by the public path with {type(error).__name__}"
        return "PyTorch accepts it by the public path"

    def run(self) -> None:
        """Make the call through the dual root."""
        refused(lambda: self.entry.apply(torch, self.error.sample_input))


def error_inputs(entry: Entry) -> list[ErrorInput]:
    """The error inputs of an entry that cases use; the same each time."""
    inputs = [ErrorInput(entry, index, error) for index, error in enumerate(given.error_inputs(entry.info))]
    first: dict[tuple[type, str], ErrorInput] = {}
    for item in inputs:
        if item.storable:
            first.setdefault(item.words, item)
    apart = [*first.values()]
    chosen = np.linspace(0, len(apart) - 1, min(USED, len(apart))).round().astype(int)
    return [apart[i] for i in chosen]
