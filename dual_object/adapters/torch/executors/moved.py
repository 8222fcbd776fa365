"""Executors that capture nothing beforehand, but run a module elsewhere: on tensors without values, on a device that
collects ops lazily, or through PyTorch's own decompositions.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_map_only

from dual_object.adapters.torch.executors import private
from dual_object.adapters.torch.executors.executor import NO_LIMITS, NotCaptured, Whole, is_bug
from dual_object.replay.asked.executors import AskedExecutor
from dual_object.replay.observation import GraphPart


class _Moved:
    """What its own run raises is the executor's word that it does not take the module."""

    takes_batches = False
    zero_gradients = False
    limits = NO_LIMITS
    shows: frozenset[GraphPart]

    def __init__(self, asked: AskedExecutor) -> None:
        self.name = asked.name

    def compile(self, module: torch.nn.Module, inputs: Sequence[torch.Tensor]) -> Whole:
        """Nothing runs before the first call."""

        def run(*given: torch.Tensor) -> Any:
            try:
                return self._run(module, given)
            except Exception as error:
                if is_bug(error):
                    raise
                raise NotCaptured(error) from error

        return Whole(run)

    def _run(self, module: torch.nn.Module, inputs: Sequence[torch.Tensor]) -> Any:
        raise NotImplementedError


class Meta(_Moved):
    """Tensors of the device meta: what PyTorch says of shape, dtype and strides without computing anything."""

    shows = frozenset({"layout"})

    def _run(self, module: torch.nn.Module, inputs: Sequence[torch.Tensor]) -> Any:
        with inferring([module]):
            results = module(*map(on_meta, inputs))
        return _real(results)


class Fake(_Moved):
    """Fake tensors: the same as tracers see it, which also knows of devices and of views."""

    shows = frozenset({"layout"})

    def _run(self, module: torch.nn.Module, inputs: Sequence[torch.Tensor]) -> Any:
        mode = private.fake_mode()

        def fake(tensor: torch.Tensor) -> torch.Tensor:
            moved: torch.Tensor = mode.from_tensor(tensor.detach())
            return moved

        moved = [fake(x) for x in inputs]
        with _state_moved(module, fake), mode:
            results = module(*moved)
        return _real(results)


class Lazy(_Moved):
    """Lazy Tensor with its TorchScript backend: ops are collected, and run once somebody looks."""

    shows = frozenset({"values", "gradients", "buffers"})

    def __init__(self, asked: AskedExecutor) -> None:
        super().__init__(asked)
        private.prepare_lazy()

    def _run(self, module: torch.nn.Module, inputs: Sequence[torch.Tensor]) -> Any:
        buffers = list(module.buffers())
        with _state_moved(module, lambda tensor: tensor.to("lazy")) as moved, torch.device("lazy"):
            results = module(*(x.to("lazy") for x in inputs))
        with torch.no_grad():
            for buffer in buffers:
                buffer.copy_(moved[id(buffer)].to("cpu"))
        return tree_map_only(torch.Tensor, lambda tensor: tensor.to("cpu"), results)


class Refs(_Moved):
    """`torch._refs`: each op as PyTorch writes it out in simpler ones; forward only."""

    shows = frozenset({"values", "layout", "inputs", "buffers"})

    def _run(self, module: torch.nn.Module, inputs: Sequence[torch.Tensor]) -> Any:
        with torch.no_grad(), private.refs_mode():
            return module(*inputs)


@contextlib.contextmanager
def _state_moved(
    module: torch.nn.Module, move: Callable[[torch.Tensor], torch.Tensor]
) -> Iterator[dict[int, torch.Tensor]]:
    """While it lasts, a module has its parameters and buffers elsewhere, each once by however many names it goes; gives
    them by the `id` of the original. `torch.func.functional_call` loses those of a module that is part of another.
    """
    tables = private.state_tables(module)
    kept = [(table, name, tensor) for table in tables for name, tensor in table.items() if tensor is not None]
    moved = {id(tensor): tensor for _, _, tensor in kept}
    moved = {number: move(tensor) for number, tensor in moved.items()}
    try:
        for table, name, tensor in kept:
            table[name] = moved[id(tensor)]
        yield moved
    finally:
        for table, name, tensor in kept:
            table[name] = tensor


@contextlib.contextmanager
def inferring(modules: Iterable[torch.nn.Module]) -> Iterator[None]:
    """While it lasts, modules have their parameters and buffers on the device meta, and new tensors are made there."""
    with contextlib.ExitStack() as stack:
        for module in modules:
            stack.enter_context(_state_moved(module, on_meta))
        stack.enter_context(torch.device("meta"))
        yield


def on_meta(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor that lies as this one does, without memory."""
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")


def _real(results: Any) -> Any:
    """Tensors on the CPU that lie as these do."""

    def lay(tensor: torch.Tensor) -> torch.Tensor:
        size, strides = tuple(tensor.shape), tuple(tensor.stride())
        return torch.empty_strided(size, strides, dtype=tensor.dtype)

    return tree_map_only(torch.Tensor, lay, results)


__all__ = ["Fake", "Lazy", "Meta", "Refs", "inferring", "on_meta"]
