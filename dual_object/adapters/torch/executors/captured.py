"""Executors that capture a module before it runs: the two of fx, the two of torch.jit, and the two of export."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import torch

from dual_object.adapters.torch.executors import private
from dual_object.adapters.torch.executors.aten import aten_graph
from dual_object.adapters.torch.executors.executor import NO_LIMITS, NotCaptured, Whole, is_bug
from dual_object.replay.asked.executors import AskedExecutor
from dual_object.replay.observation import ALL_PARTS

#: A graph of tensors has no plain values: those that the body read are not in it.
_TENSORS = ALL_PARTS - {"hosts"}
#: What switches the recording of gradients, or a tensor's own part in it.
_REGIONS = ("no_grad", "enable_grad", "inference_mode", "set_grad_enabled")
_FLAGS = ("requires_grad_", "requires_grad")
_BELOW = "records what lies below autograd, where a detached tensor is as any other"
_OF_TENSORS = "records ops on tensors alone, and not what switches gradients on or off around them"
#: What makes random numbers of no tensor.
_DRAWS = ("rand", "randn", "randint", "randperm", "normal")
_NO_SWITCHES = MappingProxyType(dict.fromkeys((*_REGIONS, *_FLAGS), _OF_TENSORS))
_DRAWN_ONCE = "documents that random numbers which are drawn without a tensor become constants of its graph"


class _Ahead:
    """Captured before the first call. Whatever is raised by that is the executor's word that it does not take it."""

    takes_batches = False
    shows = _TENSORS
    zero_gradients = False
    limits = NO_LIMITS

    def __init__(self, asked: AskedExecutor) -> None:
        self.name = asked.name

    def compile(self, module: torch.nn.Module, inputs: Sequence[torch.Tensor]) -> Whole:
        """Capture the module."""
        try:
            return Whole(self._capture(module, tuple(inputs)))
        except Exception as error:
            if is_bug(error):
                raise
            raise NotCaptured(error) from error

    def _capture(self, module: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> Any:
        raise NotImplementedError


class Fx(_Ahead):
    """`torch.fx.symbolic_trace`: the module's Python run on proxies."""

    limits = MappingProxyType({**dict.fromkeys(_REGIONS, _OF_TENSORS), **dict.fromkeys(_DRAWS, _DRAWN_ONCE)})

    def _capture(self, module: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> Any:
        return torch.fx.symbolic_trace(module)


class MakeFx(_Ahead):
    """`make_fx`: the ATen ops that one run on example inputs comes down to."""

    limits = MappingProxyType({**_NO_SWITCHES, **dict.fromkeys(("detach", "detach_"), _BELOW)})

    def _capture(self, module: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> Any:
        return aten_graph(module, inputs)


class Trace(_Ahead):
    """`torch.jit.trace`: the ops that one run on example inputs calls."""

    limits = _NO_SWITCHES

    def _capture(self, module: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> Any:
        return torch.jit.trace(module, inputs, check_trace=False)  # type: ignore[no-untyped-call]  # PyTorch's own


class Script(_Ahead):
    """`torch.jit.script`: the module's source, compiled."""

    def _capture(self, module: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> Any:
        try:
            return torch.jit.script(module)
        except Exception:
            private.forget_scripted()
            raise


class Export(_Ahead):
    """`torch.export.export`: one whole graph, or none."""

    limits = MappingProxyType(dict.fromkeys(_FLAGS, _OF_TENSORS))

    def _capture(self, module: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> Any:
        return torch.export.export(module, inputs).module()


class ExportDecomp(Export):
    """The same, decomposed to the core ATen ops, for a runtime that has no others: forward only."""

    shows = _TENSORS - {"gradients", "standing"}

    def _capture(self, module: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> Any:
        with torch.no_grad():
            return torch.export.export(module, inputs).run_decompositions().module()


__all__ = ["Export", "ExportDecomp", "Fx", "MakeFx", "Script", "Trace"]
