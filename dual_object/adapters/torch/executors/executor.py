"""What an executor is: something that makes of a module a callable that should do the same."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

import torch

from dual_object.replay.observation import Capture, GraphPart, class_names, first_words

#: Of an executor that records everything.
NO_LIMITS: Mapping[str, str] = MappingProxyType({})
#: Where an object lies: another place in each run.
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


class NotCaptured(Exception):  # noqa: N818 - an outcome that is counted, not a fault
    """An executor says that it makes no graph of a module: by design, not because it broke.

    `classes` are the names of the exception that said so, the message is its reason in one line.
    """

    def __init__(self, error: Exception) -> None:
        super().__init__(_ADDRESS.sub("", first_words(error)))
        self.classes = class_names(error)


def is_bug(error: Exception) -> bool:
    """Whether PyTorch itself calls an exception a bug: such a one is no refusal."""
    return "INTERNAL ASSERT FAILED" in str(error)


class Compiled(Protocol):
    """What an executor has made of a module."""

    def __call__(self, *inputs: torch.Tensor) -> Any:
        """What `module(*inputs)` returns. Raises NotCaptured where the executor finds only now that it does not take
        the module.
        """

    def capture(self) -> Capture:
        """What has been captured in all calls so far."""


class Executor(Protocol):
    """A way of running a module: captured first, then run without Python.

    Attributes:
        name: as in `--target torch:NAME`.
        takes_batches: one callable may run many independent modules, which costs less than one callable for each.
        shows: what of a Program can be seen of what it has run.
        zero_gradients: all its results have one backward, which takes zeros for those that none starts at: a leaf that
            only these come from gets a gradient of zeros, where eagerly it gets none.
        limits: by op, why a Program with that op is not held against eager: it is known and told that the executor does
            not record it. Of functions that is meant which are called without a tensor.
    """

    @property
    def name(self) -> str: ...  # noqa: D102 - above

    @property
    def takes_batches(self) -> bool: ...  # noqa: D102

    @property
    def shows(self) -> frozenset[GraphPart]: ...  # noqa: D102

    @property
    def zero_gradients(self) -> bool: ...  # noqa: D102

    @property
    def limits(self) -> Mapping[str, str]: ...  # noqa: D102

    def compile(self, module: torch.nn.Module, inputs: Sequence[torch.Tensor]) -> Compiled:
        """A callable that does what `module` does. `inputs` are examples, which the executor may run the module on;
        buffers of the module may change by that. Raises NotCaptured.

        One callable at a time: what was compiled before need not work any more.
        """


class Whole:
    """A callable that is one graph, captured before its first call."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __call__(self, *inputs: torch.Tensor) -> Any:
        """Run the graph."""
        return self._function(*inputs)

    def capture(self) -> Capture:
        """It is whole, or there would be none."""
        return Capture("captured")


__all__ = ["NO_LIMITS", "Compiled", "Executor", "NotCaptured", "Whole", "is_bug"]
