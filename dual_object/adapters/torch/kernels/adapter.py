"""PyTorch, some of whose ops are other functions: kernels, from files that only this process reads."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from dual_object.adapters.torch.adapter import Adapter as Torch
from dual_object.adapters.torch.kernels.auditing import Auditor
from dual_object.adapters.torch.kernels.guard import Guard
from dual_object.adapters.torch.kernels.loading import load_kernel
from dual_object.replay.asked.kernels import KERNELS


class Adapter(Torch):
    """PyTorch with kernels in the place of ops."""

    name = "kernel"

    def __init__(self) -> None:
        super().__init__()
        self.use_one_thread()
        self._kernels = {
            path: (load_kernel(file, function), file, delegates)
            for path, (file, function, delegates) in json.loads(os.environ.get(KERNELS, "{}")).items()
        }
        self._guards: dict[str, Guard] = {}

    def unwatched(self, path: str) -> tuple[Any, Any]:
        """The kernel at `path` as it is, and PyTorch's own op."""
        return self._kernels[path][0], super().resolve(path)

    def resolve(self, path: str) -> Any:
        """The kernel at `path`, where there is one, watched; else what PyTorch has."""
        guard = self._guards.get(path)
        if guard is None and path in self._kernels:
            kernel, file, delegates = self._kernels[path]
            auditor = Auditor(str(Path(file).resolve().parent))
            guard = self._guards[path] = Guard(path, kernel, super().resolve(path), auditor, delegates=delegates)
        return super().resolve(path) if guard is None else guard


__all__ = ["Adapter"]
