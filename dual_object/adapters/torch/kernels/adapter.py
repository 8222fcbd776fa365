"""PyTorch, some of whose ops are other functions: kernels, from files that only this process reads."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import torch

from dual_object.adapters.torch.adapter import Adapter as Torch
from dual_object.adapters.torch.kernels.devices import moved
from dual_object.adapters.torch.kernels.loading import load_kernel
from dual_object.adapters.torch.kernels.watching.auditing import Auditor
from dual_object.adapters.torch.kernels.watching.guard import Guard
from dual_object.adapters.torch.kernels.ways import called
from dual_object.program.values import Array
from dual_object.replay.asked.kernels import DEVICE, KERNELS


class Adapter(Torch):
    """PyTorch with kernels in the place of ops."""

    name = "kernel"

    def __init__(self) -> None:
        super().__init__()
        self.use_one_thread()
        self._kernels = {
            path: (load_kernel(file, function), file, delegates, way)
            for path, (file, function, delegates, way) in json.loads(os.environ.get(KERNELS, "{}")).items()
        }
        self._stand_ins: dict[str, Any] = {}
        self._device = torch.device(os.environ.get(DEVICE, "cpu"))

    def tensor(self, data: Array, dtype: str) -> tuple[torch.Tensor, bool]:
        """A tensor on the device that the kernel is asked on; one on the CPU shares memory with `data`."""
        tensor, shares = super().tensor(data, dtype)
        return (tensor, shares) if self._device.type == "cpu" else (moved(tensor, self._device), False)

    def device(self, spec: str) -> torch.device:
        """The device that the kernel is asked on, where the question is about the CPU."""
        return self._device if spec == "cpu" else super().device(spec)

    def describe(self, tensor: torch.Tensor) -> tuple[str, tuple[int, ...], str, bool]:
        """As PyTorch's. What lies where the kernel is asked is told as on the CPU, which the question is about, and
        everything else as `elsewhere`.
        """
        dtype, shape, device, requires_grad = super().describe(tensor)
        if self._device.type != "cpu":
            device = "cpu" if tensor.device.type == self._device.type else "elsewhere"
        return dtype, shape, device, requires_grad

    def unwatched(self, path: str) -> tuple[Any, Any]:
        """The kernel at `path` as it is, and PyTorch's own op."""
        return self._kernels[path][0], super().resolve(path)

    def resolve(self, path: str) -> Any:
        """The kernel at `path`, where there is one, watched, or called in its way; else what PyTorch has."""
        stand_in = self._stand_ins.get(path)
        if stand_in is None and path in self._kernels:
            stand_in = self._stand_ins[path] = self._stand_in(path)
        return super().resolve(path) if stand_in is None else stand_in

    def _stand_in(self, path: str) -> Any:
        kernel, file, delegates, way = self._kernels[path]
        if way:  # it has been watched where it was called plainly
            return called(way, kernel)
        auditor = Auditor(str(Path(file).resolve().parent))
        return Guard(path, kernel, super().resolve(path), auditor, delegates=delegates)


__all__ = ["Adapter"]
