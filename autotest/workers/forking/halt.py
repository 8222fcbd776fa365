"""Something done before the first call of a function of a module that is still to be imported."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any


@contextmanager
def halted(place: str, do: Callable[[], None]) -> Iterator[None]:
    """Within, `do` is called once, before the first call of the function that `place` names: `module:function`."""
    module, _, function = place.partition(":")
    finder = _Finder(module, function, do)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Finder(MetaPathFinder):
    """Finds one module where it is, with a loader that changes one function of it."""

    def __init__(self, module: str, function: str, do: Callable[[], None]) -> None:
        self._module = module
        self._function = function
        self._do = do

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """As any finder."""
        if fullname != self._module:
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._function, self._do)
        return spec


class _Loader(Loader):
    """Loads a module as its own loader does; the function is then itself again with its first call."""

    def __init__(self, loader: Loader, function: str, do: Callable[[], None]) -> None:
        self._loader = loader
        self._function = function
        self._do = do

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """As its own loader."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """As its own loader; a module that lacks the function is left as it is."""
        self._loader.exec_module(module)
        function = getattr(module, self._function, None)
        if function is None:
            return

        def first(*args: Any, **kwargs: Any) -> Any:
            setattr(module, self._function, function)
            self._do()
            return function(*args, **kwargs)

        setattr(module, self._function, first)


__all__ = ["halted"]
