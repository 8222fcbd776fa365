"""The import hook: OneFlow's own test harness is answered for by our vocabulary, the rest of OneFlow is real."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

PACKAGE = "oneflow.test_utils.automated_test_util"
VOCABULARY = Path(__file__).parent / "vocabulary"


class Finder(MetaPathFinder):
    """Finds OneFlow's harness in our vocabulary, and OneFlow itself with the CUDA libraries that its wheel needs."""

    def __init__(self) -> None:
        self._importing = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The vocabulary for the harness's name; OneFlow, imported with its libraries; None for anything else.

        Submodules of the harness are found by Python itself, in the folder of the vocabulary.
        """
        if fullname == PACKAGE:
            return spec_from_file_location(
                fullname, VOCABULARY / "__init__.py", submodule_search_locations=[str(VOCABULARY)]
            )
        if fullname == "oneflow" and not self._importing:
            return self._oneflow()
        return None

    def _oneflow(self) -> ModuleSpec | None:
        from dual_object.adapters.oneflow.eager import import_oneflow
        from dual_object.errors import TargetError

        self._importing = True
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # its docstrings' escapes, told when they are first compiled
                module = import_oneflow()
        except TargetError as error:
            raise ImportError(str(error), name="oneflow") from error
        finally:
            self._importing = False
        spec = ModuleSpec("oneflow", _Imported(module), is_package=True)
        module.__spec__ = spec  # the import system trusts the spec of a module that appeared meanwhile, not ours
        return spec


class _Imported(Loader):
    """Hands out a module that is imported already, as it was."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module itself."""
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is left to run; the module gets its own spec back."""
        module.__spec__ = self._spec


def install() -> None:
    """Answer for OneFlow's harness from now on; asking twice changes nothing."""
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        _forget()
        sys.meta_path.insert(0, Finder())


def uninstall() -> None:
    """Leave OneFlow's harness to itself again."""
    installed = [finder for finder in sys.meta_path if isinstance(finder, Finder)]
    if installed:
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder not in installed]
        _forget()


def _forget() -> None:
    """Forget whatever was imported under the harness's name."""
    for name in [name for name in sys.modules if name == PACKAGE or name.startswith(f"{PACKAGE}.")]:
        del sys.modules[name]
    parent, _, name = PACKAGE.rpartition(".")
    if parent in sys.modules:
        vars(sys.modules[parent]).pop(name, None)
    importlib.invalidate_caches()
