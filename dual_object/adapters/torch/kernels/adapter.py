"""PyTorch, some of whose ops are other functions: kernels, from files that only this process reads."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

from dual_object.adapters.torch.adapter import Adapter as Torch
from dual_object.adapters.torch.kernels.auditing import Auditor
from dual_object.adapters.torch.kernels.devices import require_device
from dual_object.adapters.torch.kernels.guard import Guard
from dual_object.errors import TargetError

#: The variable that names them: JSON, by the op's path below `torch` the file, the function, and whether it may call
#: the op itself, `{"relu": ["/home/me/kernels.py", "relu", false]}`.
KERNELS = "AUTOTEST_KERNELS"


class Adapter(Torch):
    """PyTorch with kernels in the place of ops."""

    name = "kernel"

    def __init__(self) -> None:
        super().__init__()
        self.use_one_thread()
        places = json.loads(os.environ.get(KERNELS, "{}"))
        for file, _, _ in places.values():
            require_device(file)
        self._kernels = {
            path: (load_kernel(file, function), file, delegates) for path, (file, function, delegates) in places.items()
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


def load_kernel(file: str, function: str) -> Any:
    """The function of a file. Raises TargetError, in one sentence, where there is none."""
    path = Path(file)
    name = f"kernel_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise TargetError(f"{file} is no file of Python, but should hold the kernel {function}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise TargetError(f"{file} cannot be imported: {type(error).__name__}: {str(error)[:300]}") from error
    finally:
        sys.path.pop(0)
    kernel: Any = module
    for part in function.split("."):
        kernel = getattr(kernel, part, None)
    if not callable(kernel):
        raise TargetError(f"{file} has no function {function}, but should")
    return kernel


__all__ = ["KERNELS", "Adapter", "load_kernel"]
