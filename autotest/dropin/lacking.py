"""The sentence for a name that OneFlow's harness may have and the vocabulary has not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


def refuse(module: str) -> Callable[[str], NoReturn]:
    """A `__getattr__` for the module of this name."""

    def missing(name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(
            f"{module}.{name} is not part of the drop-in for OneFlow's harness: "
            "run this file without --drop-in, or use what docs/migrating.md names instead"
        )

    return missing


def computed(module: str, facts: dict[str, Callable[[], Any]]) -> Callable[[str], Any]:
    """A `__getattr__` for the module of this name, whose `facts` are computed whenever they are asked for."""
    missing = refuse(module)

    def fact(name: str) -> Any:
        return facts[name]() if name in facts else missing(name)

    return fact
