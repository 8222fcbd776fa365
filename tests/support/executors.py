"""Executors for tests: the source run plainly, and one that does something to what it runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from dual_object.adapters.torch.executed import Adapter
from dual_object.adapters.torch.executors.executor import NO_LIMITS, NotCaptured, Whole
from dual_object.replay.asked.executors import AskedExecutor
from dual_object.replay.observation import ALL_PARTS, Capture


class Plain:
    """Python itself. `change` makes another callable of the module's; `outcome` is what its captures come to."""

    name = "plain"
    shows = ALL_PARTS
    zero_gradients = False
    limits = NO_LIMITS

    def __init__(
        self,
        change: Callable[[Any], Any] = lambda module: module,
        *,
        takes_batches: bool = False,
        outcome: Capture | None = None,
    ) -> None:
        self.takes_batches = takes_batches
        self.compiled = 0
        self._change = change
        self._outcome = outcome or Capture("captured")

    def compile(self, module: torch.nn.Module, inputs: Sequence[torch.Tensor]) -> Any:
        """Run it once, as a tracer does, and wrap it."""
        self.compiled += 1
        module(*inputs)
        made = Whole(self._change(module))
        made.capture = lambda: self._outcome  # type: ignore[method-assign]
        return made


def refusing(module: Any) -> Any:
    """A change that is none: the module is not taken."""
    raise NotCaptured(TypeError("planted: no such thing in a graph"))


def adapter(executor: Any) -> Adapter:
    """The target of an executor."""
    made = Adapter(AskedExecutor("torch:fx", "fx"))
    made.executor = executor
    return made
