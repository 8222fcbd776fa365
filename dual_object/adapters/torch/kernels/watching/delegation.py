"""Which ops a kernel calls: whether it hands its work to the very op that it should be."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from dual_object.adapters.torch.dispatching import DispatchMode
from dual_object.adapters.torch.kernels.naming import OPERATORS

#: Ops that only lay a tensor otherwise: they are no work of an op.
_LAYING = frozenset(
    {"view", "reshape", "clone", "detach", "alias", "expand", "contiguous", "to", "empty", "as_strided"}
)
#: Names are related from so many letters on.
_LETTERS = 4


class _Functions(TorchFunctionMode):
    def __init__(self, seen: list[str]) -> None:
        super().__init__()
        self._seen = seen

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        self._seen.append(name if not hasattr(func, "_schema") else func._schema.name.rpartition("::")[2])
        return func(*args, **(kwargs or {}))


class _Ops(DispatchMode):
    def __init__(self, seen: list[str]) -> None:
        super().__init__()
        self._seen = seen

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self._seen.append(func._schema.name.rpartition("::")[2])
        return func(*args, **(kwargs or {}))


class Delegation:
    """Tells whether a function calls the op at `path`, by its name or by an operator below it."""

    def __init__(self, path: str) -> None:
        if path.startswith(OPERATORS):  # the name of an overload says nothing
            path = path.rpartition(".")[0]
        self._op = _plain(path.rpartition(".")[2])

    @contextmanager
    def watching(self, seen: list[str]) -> Iterator[None]:
        """While it lasts, the names of public functions that are called are taken down."""
        with _Functions(seen):
            yield

    def called(self, seen: Iterable[str]) -> str | None:
        """The first of the names that is the op's own; None where none is."""
        return next((name for name in seen if _plain(name) == self._op), None)

    def below(self, function: Callable[[], Any], reference: Callable[[], Any]) -> str | None:
        """The operator that a function calls where PyTorch's own op is nothing but that operator; None where it calls
        none such.
        """
        own = {name for name in _operators(reference) if _plain(name) not in _LAYING}
        if len(own) != 1:
            return None
        [only] = own
        if not _related(_plain(only), self._op):
            return None
        return only if only in _operators(function) else None


def _operators(function: Callable[[], Any]) -> list[str]:
    seen: list[str] = []
    with torch.no_grad(), _Ops(seen):
        function()
    return seen


def _plain(name: str) -> str:
    """`softmax` of `_softmax`, `softmax_`, `native_softmax` and `softmax_out`."""
    return name.strip("_").removeprefix("native_").removesuffix("_out")


def _related(operator: str, op: str) -> bool:
    shared = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(operator, op, strict=False)))
    return operator == op or shared >= max(_LETTERS, min(len(operator), len(op)) - 2)


__all__ = ["Delegation"]
