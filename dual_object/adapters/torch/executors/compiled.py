"""`torch.compile`: Dynamo alone, with AOTAutograd, and with Inductor."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import torch

from dual_object.adapters.torch.executors import private
from dual_object.adapters.torch.executors.body import Batch
from dual_object.adapters.torch.executors.executor import NO_LIMITS, NotCaptured
from dual_object.adapters.torch.executors.linking import prefer_mold
from dual_object.errors import TargetError
from dual_object.replay.asked.executors import AskedExecutor
from dual_object.replay.observation import ALL_PARTS, Capture, first_words


class TorchCompile:
    """`torch.compile` with one backend; it compiles at the first call."""

    takes_batches = True
    shows = ALL_PARTS
    limits = NO_LIMITS

    def __init__(self, asked: AskedExecutor) -> None:
        private.prepare_dynamo()
        self.name = asked.name
        self.zero_gradients = asked.name != "eager"  # AOTAutograd's
        self._marks = "mark_dynamic" in asked.options
        self._settings: dict[str, Any] = {"backend": asked.name, "fullgraph": "fullgraph" in asked.options}
        if "dynamic" in asked.options:
            self._settings["dynamic"] = True
        if "emulate_precision_casts" in asked.options:
            # Of its own compilations alone: another executor may run in this process.
            self._settings["options"] = {"emulate_precision_casts": True}
        if asked.name == "inductor":
            prefer_mold()
            self._warm_up(asked.target)

    def _warm_up(self, target: str) -> None:
        """Compile something: with a cold cache the headers that all C++ code includes are compiled once, which takes as
        long as some cases have in all. Raises TargetError where nothing can be compiled here.
        """
        try:
            with contextlib.suppress(Exception), private.processor_trusted():
                self._compile_something()
                return
            private.reset_dynamo()
            self._compile_something()
        except Exception as error:
            raise TargetError(f"target {target!r} cannot compile here: {first_words(private.cause(error))}") from error

    def _compile_something(self) -> None:
        torch.compile(_successor, **self._settings)(torch.ones(2))

    def compile(self, module: torch.nn.Module, inputs: Sequence[torch.Tensor]) -> _Compiled:
        """Forget what was compiled before, and wrap the module. Of many modules that are one, what breaks its graph is
        raised: in pieces each would be compiled by itself, and which of them it is would be found out at that cost.
        """
        private.reset_dynamo()
        together = isinstance(module, Batch)
        return _Compiled(torch.compile(module, **self._settings), marks=self._marks, whole=together)


def _successor(x: torch.Tensor) -> torch.Tensor:
    return x + 1


class _Compiled:
    """A module that Dynamo captures while it is called; `marks`: the sizes of its inputs are said to change; `whole`:
    it raises where its graph would break.
    """

    def __init__(self, function: Any, *, marks: bool, whole: bool) -> None:
        self._function = function
        self._marks = marks
        self._whole = whole
        self._graphs: list[int] = []

    def __call__(self, *inputs: torch.Tensor) -> Any:
        """Capture the module where no graph fits, and run it."""
        if self._marks:
            for tensor in inputs:
                for dim, size in enumerate(tensor.shape):
                    if size > 1:  # sizes 0 and 1 are always taken as they are
                        private.mark_dynamic(tensor, dim)
        try:
            with private.graph_breaks_raised() if self._whole else contextlib.nullcontext():
                results = self._function(*inputs)
        except private.refusals() as error:
            raise NotCaptured(error) from error
        self._graphs.append(private.unique_graphs())
        return results

    def capture(self) -> Capture:
        """What Dynamo has counted. It does not count each break: one that depends on data shows in the number of graphs
        alone.
        """
        breaks = private.graph_breaks()
        first, last = self._graphs[0], self._graphs[-1]
        if breaks:
            return Capture("broken", tuple(breaks))
        if first > 1:
            return Capture("broken", (f"Dynamo made {first} graphs of it",))
        if not first and private.frames_left():  # without, there was nothing to compute
            return Capture("broken", ("Dynamo made no graph of it",))
        if last > first:
            return Capture("recompiled", ("its guards did not hold for other values",))
        return Capture("captured")


__all__ = ["TorchCompile"]
