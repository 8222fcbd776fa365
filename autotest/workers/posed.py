"""What a test poses, found by file and name: a function cannot be sent to another process, but its file can be imported
there.
"""

from __future__ import annotations

import importlib.util
import sys
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any


class NotFoundError(LookupError):
    """Another process has no such test; the message is why, in one line."""


def posed(file: str, name: str) -> tuple[Any, ...]:
    """What the test `name` of a file poses: a function, and the makers of its tensors. Raises NotFoundError."""
    try:
        test = getattr(_module(file), name, None)
    except Exception as error:
        raise NotFoundError(
            f"{file} cannot be imported in the process of the hazards: {type(error).__name__}: {error}"
        ) from error
    found: tuple[Any, ...] | None = getattr(test, "posed", None)
    if found is None:
        raise NotFoundError(
            f"{Path(file).name} has no @hazard that is called {name}, so that another process does not find it: "
            "define it at the top of the file, not inside of a function or a class"
        )
    return found


@lru_cache
def _module(file: str) -> ModuleType:
    """A file as a module, imported once in this process."""
    name = Path(file).stem
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look for theirs there
    spec.loader.exec_module(module)
    return module


__all__ = ["NotFoundError", "posed"]
