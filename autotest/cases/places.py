"""Where in the user's own files something came about: neither in ours, nor in what is installed."""

from __future__ import annotations

import functools
import inspect
import os
import sys
import sysconfig
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import Any, TextIO

#: Our packages, side by side, wherever they are installed.
_PACKAGES = ("autotest", "dual_object", "generators", "reports")
_HOME = Path(__file__).parents[2]
_FOREIGN = tuple(
    f"{folder}{os.sep}" for folder in [*(_HOME / name for name in _PACKAGES), sysconfig.get_paths()["stdlib"]]
)
#: Folders that hold what is installed.
_INSTALLED = frozenset({"site-packages", "dist-packages"})


@functools.lru_cache(maxsize=4096)
def is_users(file: str) -> bool:
    """Whether a code object's file is one of the user's."""
    return not (file.startswith(("<", *_FOREIGN)) or _INSTALLED.intersection(Path(file).parts))


def raised_at(error: BaseException) -> str | None:
    """The innermost line of the user's that an exception, or the one that it stands for, came through, as
    `test_x.py:12`.
    """
    innermost = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        if is_users(frame.f_code.co_filename):
            innermost = told_at(frame.f_code, line)
    if innermost is None and error.__context__ is not None:
        return raised_at(error.__context__)
    return innermost


def running_at(frame: FrameType | None) -> tuple[str, int] | None:
    """File and line of the innermost of the user's frames, from `frame` outwards."""
    while frame is not None and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def defined_at(body: Callable[..., Any]) -> str | None:
    """Where a function begins."""
    code = _code(body)
    return None if code is None else told_at(code, code.co_firstlineno)


def warn_at(body: Callable[..., Any], words: str) -> None:
    """Warn of a function, where it begins."""
    code = _code(body)
    if code is None:
        warnings.warn(words, UserWarning, stacklevel=2)
    else:
        warnings.warn_explicit(words, UserWarning, code.co_filename, code.co_firstlineno)


def users_lines(trace: TracebackType | None) -> str:
    """The user's lines among those of a traceback, as Python prints them."""
    return "".join(
        line for frame in traceback.extract_tb(trace) if is_users(frame.filename) for line in _printed(frame)
    )


def told_at(code: CodeType, line: int) -> str:
    """A line as `test_x.py:12`."""
    return f"{_short(code.co_filename)}:{line}"


def bracketed(place: str | None) -> str:
    """What a message ends with to name a place: ` [test_x.py:12]`."""
    return "" if place is None else f" [{place}]"


def name_place(error: BaseException, place: str | None) -> None:
    """Add a place to the sentence of an exception of ours."""
    if place is not None:
        error.args = (f"{error} [{place}]",)


@contextmanager
def warnings_at_users_lines() -> Iterator[None]:
    """Have the warnings from inside point at the user's line, not at the one of ours that makes the call."""
    show = warnings.showwarning

    def show_there(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if not is_users(filename):
            filename, lineno = running_at(sys._getframe(1)) or (filename, lineno)
        show(message, category, filename, lineno, file, line)

    warnings.showwarning = show_there
    try:
        yield
    finally:
        warnings.showwarning = show


def _code(body: Callable[..., Any]) -> CodeType | None:
    while isinstance(body, functools.partial):
        body = body.func
    return getattr(inspect.unwrap(body), "__code__", None)


def _printed(frame: traceback.FrameSummary) -> list[str]:
    return traceback.format_list(
        [traceback.FrameSummary(_short(frame.filename), frame.lineno, frame.name, line=frame.line)]
    )


def _short(file: str) -> str:
    """A file below the current folder by its path from there."""
    try:
        return str(Path(file).relative_to(Path.cwd()))
    except ValueError:
        return file
