"""PyTorch's containers of modules, as `nn.ModuleList`, where they hold a module of a class of the test's own.

Those of the framework take none, for such a module is recorded call by call; so are these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dual_object.record.own_module import OwnModule


class _Numbered(OwnModule):
    """Modules by their number."""

    def __init__(self, modules: Iterable[Any] = ()) -> None:
        super().__init__()
        self.extend(modules)

    def append(self, module: Any) -> _Numbered:
        """Add one at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Any]) -> _Numbered:
        """Add some at the end."""
        for module in modules:
            self.append(module)
        return self

    def __len__(self) -> int:
        return len(list(self.children()))

    def __iter__(self) -> Iterator[Any]:
        return self.children()

    def __getitem__(self, index: int | slice) -> Any:
        """One of them, or a container of some."""
        chosen = list(self.children())[index]
        return type(self)().extend(chosen) if isinstance(index, slice) else chosen


class ModuleList(_Numbered):
    """Modules that the test's own `forward` calls."""


class Sequential(_Numbered):
    """Modules, each called with what the one before has given; by name where one mapping is given."""

    def __init__(self, *modules: Any) -> None:
        named = modules[0] if len(modules) == 1 and isinstance(modules[0], Mapping) else {}
        super().__init__(() if named else modules)
        for name, module in named.items():
            self.add_module(name, module)

    def forward(self, x: Any) -> Any:
        """What the last one gives."""
        for module in self:
            x = module(x)
        return x


class ModuleDict(OwnModule):
    """Modules by name, which the test's own `forward` calls."""

    def __init__(self, modules: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> None:
        super().__init__()
        for name, module in dict(modules).items():
            self.add_module(name, module)

    def __len__(self) -> int:
        return len(self.keys())

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, name: object) -> bool:
        return name in self.keys()

    def __getitem__(self, name: str) -> Any:
        return dict(self.named_children())[name]

    def __setitem__(self, name: str, module: Any) -> None:
        self.add_module(name, module)

    def keys(self) -> list[str]:
        """Their names."""
        return [name for name, _ in self.named_children()]

    def values(self) -> list[Any]:
        """The modules."""
        return list(self.children())

    def items(self) -> list[tuple[str, Any]]:
        """Both."""
        return list(self.named_children())


#: By the path of the framework's own.
CONTAINERS: Mapping[str, type[OwnModule]] = {
    "nn.ModuleDict": ModuleDict,
    "nn.ModuleList": ModuleList,
    "nn.Sequential": Sequential,
}


def holds_own(args: tuple[Any, ...]) -> bool:
    """Whether a container that is given these is to hold a module of a class of the test's own."""
    for arg in args:
        parts = arg.values() if isinstance(arg, Mapping) else arg if isinstance(arg, (list, tuple)) else (arg,)
        for part in parts:
            if isinstance(part[-1] if isinstance(part, (list, tuple)) and part else part, OwnModule):
                return True
    return False


__all__ = ["CONTAINERS", "holds_own"]
