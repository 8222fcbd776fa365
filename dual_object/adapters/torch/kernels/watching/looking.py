"""What code looks at without an event that Python would tell of: which modules are loaded, how the process was started,
which files there are.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Any

#: Attributes of `sys` that are no matter of an op, and what looking at them is in words.
_OF_SYS = {
    "modules": "it looks at which modules are loaded",
    "argv": "it looks at how the process was started",
    "orig_argv": "it looks at how the process was started",
}
#: Functions of `os` that say whether a file is there.
_OF_FILES = ("stat", "lstat", "access")

#: Called with what somebody does, in words, the path of a file or nothing, and the frame of who does it.
Told = Callable[[str, object, FrameType], None]
_frame = sys._getframe


@contextmanager
def looked_at(told: Told) -> Iterator[None]:
    """While it lasts, whoever looks is told of."""
    before, functions = sys.__class__, {name: getattr(os, name) for name in _OF_FILES}
    sys.__class__ = _watched_sys(told)
    for name, function in functions.items():
        setattr(os, name, _watched(function, told))
    try:
        yield
    finally:
        sys.__class__ = before
        for name, function in functions.items():
            setattr(os, name, function)


def _watched_sys(told: Told) -> type[ModuleType]:
    class Watched(ModuleType):
        def __new__(cls, *args: Any) -> ModuleType:  # type: ignore[misc]  # importing makes modules by `type(sys)(name)`
            return ModuleType(*args)

        def __getattribute__(self, name: str) -> Any:
            if name in _OF_SYS:
                told(_OF_SYS[name], None, _frame(1))
            return ModuleType.__getattribute__(self, name)

    return Watched


def _watched(function: Callable[..., Any], told: Told) -> Callable[..., Any]:
    def look(path: Any, *args: Any, **kwargs: Any) -> Any:
        told("it looks for a file", path, _frame(1))
        return function(path, *args, **kwargs)

    return look


__all__ = ["looked_at"]
