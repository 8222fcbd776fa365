"""What a test poses, found by file and name: a function cannot be sent to another process, but its file can be imported
there.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from functools import lru_cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Literal

from _pytest.assertion.rewrite import rewrite_asserts  # no public name makes an assert tell what it has compared


class NotFoundError(LookupError):
    """Another process has no such test; the message is why, in one line."""


def posed(file: str, name: str, by: Literal["hazard", "contract"]) -> Any:
    """What the test `name` of a file poses, which the decorator `by` has made. Raises NotFoundError."""
    try:
        test = getattr(_module(file), name, None)
    except Exception as error:
        raise NotFoundError(
            f"{file} cannot be imported in the process of the {by}s: {type(error).__name__}: {error}"
        ) from error
    found = getattr(test, by, None)
    if found is None:
        raise NotFoundError(
            f"{Path(file).name} has no @{by} that is called {name}, so that another process does not find it: "
            "define it at the top of the file, not inside of a function or a class"
        )
    return found


class _Loader(SourceFileLoader):
    """Imports a test file as pytest does: its asserts say what they have compared."""

    def get_code(self, fullname: str) -> CodeType:
        """Compile the source anew: what lies in a cache may have been compiled by somebody else."""
        data = self.get_data(self.path)
        tree = ast.parse(data, self.path)
        rewrite_asserts(tree, data)
        return compile(tree, self.path, "exec", dont_inherit=True)


@lru_cache
def _module(file: str) -> ModuleType:
    """A file as a module, imported once in this process; it may import what lies beside it."""
    name, folder = Path(file).stem, str(Path(file).parent)
    if folder not in sys.path:
        sys.path.append(folder)
    spec = importlib.util.spec_from_file_location(name, file, loader=_Loader(name, file))
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look for theirs there
    spec.loader.exec_module(module)
    return module


__all__ = ["NotFoundError", "posed"]
