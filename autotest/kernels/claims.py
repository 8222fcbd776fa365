"""Claims: which function says to be which op, as people write it: `mykernels.py:softmax`, `--like torch.softmax`."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from autotest.errors import UsageError
from autotest.kernels.judge import Kernel
from autotest.options.overrides import module_file
from dual_object.adapters.torch.kernels.naming import path_of, spaces
from dual_object.adapters.torch.kernels.samples.drawing import takes_its_samples
from dual_object.adapters.torch.kernels.shapes import Pattern
from dual_object.errors import MissingOp
from dual_object.replay.adapter import Reference


def kernel_at(text: str, *, delegates: bool = False) -> Kernel:
    """The kernel that `FILE.py:function` or `package.module:function` names. Raises UsageError."""
    place, _, function = text.rpartition(":")
    if not place or not function.replace(".", "").isidentifier():
        raise UsageError(f"KERNEL={text!r}, but should be FILE.py:function or package.module:function")
    path = Path(place)
    if path.suffix == ".py":
        if not path.is_file():
            raise UsageError(f"KERNEL={text!r}, but {place} is no file")
        return Kernel(path, function, delegates)
    file = module_file(place, Path.cwd())
    if file is None:
        raise UsageError(f"KERNEL={text!r}, but there is no module {place}: put its folder on PYTHONPATH")
    return Kernel(file, function, delegates)


@contextmanager
def claimed(kernel: Callable[..., Any] | str, *, delegates: bool = False) -> Iterator[Kernel]:
    """The kernel of a function of a file, of `FILE.py:function`, or of a source text, whose last function it is and
    which is in a file for so long.

    Raises UsageError for a function that no file has by name: another process could not find it.
    """
    if isinstance(kernel, str) and "\n" in kernel:
        function = _last_function(kernel)
        with TemporaryDirectory(prefix="autotest-kernel-") as folder:
            path = Path(folder) / "kernel.py"
            path.write_text(kernel, encoding="utf-8")
            yield Kernel(path, function, delegates)
    elif isinstance(kernel, str):
        yield kernel_at(kernel, delegates=delegates)
    else:
        yield _of_function(kernel, delegates=delegates)


def _of_function(kernel: Callable[..., Any], *, delegates: bool) -> Kernel:
    name = getattr(kernel, "__qualname__", "")
    try:
        file = inspect.getsourcefile(kernel)
    except TypeError:
        file = None
    if file is None or "<" in name or not name:
        raise UsageError(
            f"kernel={kernel!r:.80}, but should be a function that a file has by name, 'FILE.py:function', or its "
            "source: it runs in a process of its own"
        )
    return Kernel(Path(file), name, delegates)


def _last_function(source: str) -> str:
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise UsageError(f"the kernel's source is no Python: {error}") from None
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    if not names:
        raise UsageError("the kernel's source has no function")
    return names[-1]


def shapes_of(texts: Sequence[str]) -> tuple[Pattern, ...]:
    """The shapes that `n,128` names: a number is that size, a letter any size. Raises UsageError."""
    return tuple(map(_pattern, texts))


def _pattern(text: str) -> Pattern:
    sizes = [size.strip() for size in text.split(",")]
    if not all(re.fullmatch(r"[A-Za-z]|[1-9][0-9]*", size, re.ASCII) for size in sizes):
        raise UsageError(f"shapes={text!r}, but should be a number or a letter for each dimension, as n,128 [--shapes]")
    return tuple(int(size) if size.isdigit() else None for size in sizes)


def op_path(reference: Reference, like: Any, kernel: Kernel) -> str:
    """The path below `torch` of the op: of `torch.softmax` or "torch.softmax"; of nothing, the op that is called as the
    kernel. Raises UsageError.
    """
    if like is not None and not isinstance(like, str):
        path = path_of(like)
        if path is None:
            raise UsageError(f"like={like!r:.80}, but should be a public function of PyTorch, or its name")
        return path
    name = (like or kernel.function.rpartition(".")[2]).removeprefix("torch.")
    found = [f"{at}{name}" for at, _ in spaces() if _is_function(reference, f"{at}{name}")]
    if found:
        return found[0] if len(found) == 1 else next(filter(takes_its_samples, found), found[0])
    asked = f"like={like!r}" if like else f"{kernel.function} comes without like"
    raise UsageError(f"{asked}, but torch.{name} is no function of PyTorch: name the op, as torch.softmax [--like]")


def _is_function(reference: Reference, path: str) -> bool:
    try:
        return callable(reference.resolve(path))
    except MissingOp:
        return False


__all__ = ["claimed", "kernel_at", "op_path", "shapes_of"]
