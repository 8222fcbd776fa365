"""What a kernel asks Python for that no op needs: who calls it, what else lives in the process, files, processes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from dual_object.adapters.torch.kernels.watching.looking import looked_at

#: By the event that Python tells of: the category, and what it is in words.
_EVENTS = {
    "sys._getframe": ("cheating", "it looks at who calls it"),
    "sys._current_frames": ("cheating", "it looks at the frames of the process"),
    "sys.settrace": ("cheating", "it traces the process"),
    "sys.setprofile": ("cheating", "it traces the process"),
    "gc.get_objects": ("cheating", "it searches the objects of the process"),
    "gc.get_referrers": ("cheating", "it searches the objects of the process"),
    "gc.get_referents": ("cheating", "it searches the objects of the process"),
    "os.fork": ("fork", "it forks the process"),
    "os.forkpty": ("fork", "it forks the process"),
    "os.posix_spawn": ("fork", "it starts a process"),
    "os.system": ("fork", "it starts a process"),
    "subprocess.Popen": ("fork", "it starts a process"),
    "os.kill": ("cheating", "it sends signals to processes"),
    "socket.__new__": ("cheating", "it opens a socket"),
    "open": ("cheating", "it opens a file"),
    "os.listdir": ("cheating", "it lists a folder"),
    "os.scandir": ("cheating", "it lists a folder"),
}
#: Modules of the standard library that do on behalf of whoever calls them.
_HELPERS = (
    *("inspect", "traceback", "gc", "pathlib", "subprocess", "os", "io", "multiprocessing", "shutil", "glob", "socket"),
    *("genericpath", "posixpath", "ntpath"),
)


class Auditor:
    """Takes down what the code in some folder asks Python for while it is listening.

    `seen` is what has come up since it last began to, as categories and words; `compiled`: whether code was compiled.
    """

    def __init__(self, folder: str) -> None:
        self._folder = os.path.join(os.path.realpath(folder), "")
        self._listening = False
        self.seen: list[tuple[str, str]] = []
        self.compiled = False
        sys.addaudithook(self._hear)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """While it lasts, whatever comes up is taken down; what came up before is forgotten."""
        self.seen.clear()
        self.compiled = False
        with looked_at(self._see):
            self._listening = True
            try:
                yield
            finally:
                self._listening = False

    def _see(self, words: str, path: object, frame: FrameType) -> None:
        """Take down who looks at the process, or for a file of somebody else."""
        if not self._listening:
            return
        self._listening = False
        try:
            if path is not None:
                place = self._elsewhere(path)
                if place is None:
                    return
                words = f"{words}: {place}"
            if self._asks(frame):
                self.seen.append(("cheating", words))
        finally:
            self._listening = True

    def _elsewhere(self, path: object) -> str | None:
        """The whole path of a file that the code does not bring along; None of one that it does, or that has none."""
        place = os.path.realpath(os.fsdecode(path)) if isinstance(path, (str, bytes, os.PathLike)) else ""
        return None if not place or place.startswith((self._folder, "/dev/null")) else place

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._listening:
            return
        told = _EVENTS.get(event)
        if told is None:
            return
        self._listening = False
        try:
            category, words = told
            if event == "open":
                path = self._elsewhere(arguments[0])
                if path is None:  # what it brings along it may read; modules are opened by Python
                    return
                words = f"{words}: {path}"
            frame = sys._getframe(1)
            if category == "fork" and _compiles(frame):
                self.compiled = True
            elif category == "fork" or self._asks(frame):
                self.seen.append((category, words))
        finally:
            self._listening = True

    def _asks(self, frame: FrameType | None) -> bool:
        """Whether the code in the folder is what asks, itself or through a helper of the standard library."""
        while frame is not None:
            if os.path.realpath(_file(frame)).startswith(self._folder):
                return True
            if str(frame.f_globals.get("__name__", "")).partition(".")[0] not in _HELPERS:
                return False
            frame = frame.f_back
        return False


def _file(frame: FrameType) -> str:
    """The file of the code that a frame runs; of code without one, such as what `exec` is given, that of its module. It
    has none where it is Python's own, as what imports modules: `<frozen importlib._bootstrap>` is no name of a file.
    """
    name = frame.f_code.co_filename
    return str(frame.f_globals.get("__file__") or "/") if name.startswith("<") else name


def _compiles(frame: FrameType | None) -> bool:
    """Whether PyTorch's compiler of C++ asks, or Triton: a kernel may be compiled when it is first called."""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module == "torch.utils.cpp_extension" or module.partition(".")[0] == "triton":
            return True
        frame = frame.f_back
    return False


__all__ = ["Auditor"]
