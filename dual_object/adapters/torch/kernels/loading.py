"""The files that kernels are in: imported here, in the process that runs them."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from dual_object.adapters.torch.kernels.devices import require_device
from dual_object.errors import TargetError
from dual_object.meant import did_you_mean

#: Letters of an error that are told.
_MOST = 300


def load_kernel(file: str, function: str) -> Any:
    """The function of a file. Raises TargetError, in one sentence, where there is none."""
    module = load_file(file, f"the kernel {function}")
    kernel: Any = module
    for part in function.split("."):
        kernel = getattr(kernel, part, None)
    if isinstance(kernel, type):
        raise TargetError(f"{file} has a class {function}, but should have a function: name one that calls it")
    if not callable(kernel):
        names = [name for name, value in vars(module).items() if callable(value) and name[:1] != "_"]
        raise TargetError(f"{file} has no function {function}, but should{did_you_mean(function, names)}")
    return kernel


def load_file(file: str, what: str) -> ModuleType:
    """The module in a file, imported once, a part of its package where its folder is one. Raises TargetError, in one
    sentence, where that fails; `what` it should hold.
    """
    path = Path(file).resolve()
    if path.suffix != ".py":
        raise TargetError(f"{file} is no file of Python, but should hold {what}")
    require_device(file)
    root, name = _place(path)
    sys.path.insert(0, str(root))
    try:
        if (path.parent / "__init__.py").is_file():
            return importlib.import_module(name)
        found = sys.modules.get(f"kernel_{name}")
        if found is not None and found.__file__ == str(path):
            return found
        return _alone(path, f"kernel_{name}")
    except Exception as error:
        raise TargetError(f"{file} cannot be imported: {type(error).__name__}: {_words(str(error))}") from error
    finally:
        sys.path.remove(str(root))


def _words(message: str) -> str:
    """What an error says, as far as a sentence has room: of a compiler's output, its beginning and the first error."""
    if len(message) <= _MOST:
        return message
    first = next((line for line in message.splitlines()[1:] if re.search(r"\berror\b", line)), "")
    return f"{message[:100]} ... {first.strip()[:200]}" if first else message[:_MOST]


def _place(path: Path) -> tuple[Path, str]:
    """The folder that a module is imported from, and what it is called there."""
    parts = [] if path.stem == "__init__" else [path.stem]
    folder = path.parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return folder, ".".join(parts)


def _alone(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None, "a file of Python has a loader"
    assert spec.loader is not None, "for the same reason"
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


__all__ = ["load_file", "load_kernel"]
