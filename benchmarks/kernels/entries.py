"""What bank.toml says of each kernel of the bank, and the way to load one."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from autotest import toml

HERE = Path(__file__).parent
BANK = HERE / "bank"
TABLES = HERE / "bank.toml"

Kernel = Callable[..., Any]


@dataclass(frozen=True)
class Entry:
    """One kernel: where it is, which op it says it is, and what is true of it."""

    name: str
    like: str
    sound: bool
    #: Of a wrong one: what a judge should find, the fault in a sentence, and an expression of `Witness` that shows it.
    category: str = ""
    fault: str = ""
    witness: str = ""
    #: What its docstring claims, where that is less than all that the op takes.
    domain: Mapping[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        """Its file."""
        return BANK / f"{self.name}.py"

    def op(self) -> Kernel:
        """The op of PyTorch."""
        folder, _, name = self.like.rpartition(".")
        op: Kernel = getattr(importlib.import_module(folder), name)
        return op

    def load(self) -> Kernel:
        """The kernel: the one public function that its file defines, imported anew."""
        module = loaded(self.path)
        kernel: Kernel = getattr(module, public(module)[0])
        return kernel


def loaded(path: Path) -> ModuleType:
    """The file as a module that nobody else has."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def public(module: ModuleType) -> list[str]:
    """The public functions that a module defines itself."""
    functions = inspect.getmembers(module, inspect.isfunction)
    return [name for name, function in functions if function.__module__ == module.__name__ and not name.startswith("_")]


def entries() -> list[Entry]:
    """All of bank.toml, in its order."""
    tables = toml.loads(TABLES.read_text())
    return [Entry(name, **table) for name, table in tables.items()]
