"""Pairs of a kernel and the op that it says to be, as files of kernels, and the folders of other judges, have them.

What is read, by `read_pairs`:

- a file `kernels.toml`, as `--override` takes it;
- a folder of folders, each named after an operator and with `OP_implementation_v1.py` in it, whose `OP_kernel_impl` is
  the kernel: `add__Tensor` is `aten.add.Tensor`;
- a folder of files, each with one public function, which is named after an op;

and by `read_module` a problem, a file with a module `Model`, `get_inputs` and `get_init_inputs`, with the module
`ModelNew` that stands for it.

No kernel is imported for it. Functions of files are found by their text.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autotest.errors import UsageError
from autotest.kernels.judge import Kernel
from autotest.kernels.modules import NEW, ModulePair
from autotest.options.overrides import read_overrides
from dual_object.adapters.torch.kernels.naming import operator_named, public_named, public_path

#: How the files and functions of an operator's folder are called.
_FILE, _FUNCTION = "_implementation", "_kernel_impl"


@dataclass(frozen=True, slots=True)
class Pair:
    """A kernel, and the op that it is held against.

    Attributes:
        path: the op below `torch`; of an operator `ops.aten._softmax.default`.
        kernel: the function.
        dtypes: those that it claims; empty: all that the op takes.
        gaps: what it is known not to take, in words.
        gradients: whether they are its own: those of an operator are made above it.
        how: how the op was found, in words.
    """

    path: str
    kernel: Kernel
    dtypes: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    gradients: bool = True
    how: str = ""

    @property
    def op(self) -> str:
        """The op, as people type it."""
        return f"torch.{self.path}"


@dataclass(frozen=True, slots=True)
class Left:
    """What is in a folder of kernels, and is no pair; `why` is a sentence."""

    path: Path
    why: str


def read_pairs(path: Path) -> tuple[list[Pair], list[Left]]:
    """The pairs of a file or folder, and what of it is none. Raises UsageError where there is no pair at all."""
    if not path.is_dir():
        return read_kernels(path), []
    folders = [place for place in sorted(path.iterdir()) if place.is_dir() and _implementations(place)]
    pairs, left = _of_operators(folders) if folders else _of_files(path)
    if not pairs:
        reasons = "".join(f"; {one.path.name}: {one.why}" for one in left)
        raise UsageError(
            f"KERNEL='{path}', but should be a folder of OP/OP_implementation_v1.py, or of files with one public "
            f"function each that is named after an op{reasons}"
        )
    return pairs, left


def read_kernels(path: Path) -> list[Pair]:
    """The kernels of a file `kernels.toml`; raises UsageError as `read_overrides`, and for an operator that there is
    not.
    """
    return [
        Pair(
            _asked(override.op, path),
            Kernel(override.file, override.function, override.delegates, claims=override.claims),
            override.dtypes,
            override.gaps,
            not override.op.startswith("aten."),
            f"{path.name} names {override.name}",
        )
        for override in read_overrides(path)
    ]


def _asked(op: str, path: Path) -> str:
    """The path that a kernel of an op is asked at."""
    if not op.startswith("aten."):
        return op
    _, base, overload = op.split(".")
    name = operator_named(f"{base}__{overload}")
    if name is None or name.rpartition(".")[2] != overload:
        raise UsageError(f"{path} names {op}, but PyTorch has no such operator")
    return _place(name)


def _place(operator: str) -> str:
    """Where an operator is asked for: at the public function of the same arguments, where there is one."""
    return public_path(operator) or f"ops.{operator}"


def _implementations(folder: Path) -> Sequence[Path]:
    """The implementations in an operator's folder, the first of which counts."""
    return sorted(folder.glob(f"{folder.name}{_FILE}*.py"))


def _of_operators(folders: Sequence[Path]) -> tuple[list[Pair], list[Left]]:
    pairs: list[Pair] = []
    left: list[Left] = []
    for folder in folders:
        operator = operator_named(folder.name)
        file, function = _implementations(folder)[0], f"{folder.name}{_FUNCTION}"
        if operator is None:
            left.append(Left(folder, f"PyTorch has no operator {folder.name}"))
        elif function not in _names(file):
            left.append(Left(folder, f"{file.name} has no function {function}, but should"))
        else:
            place = _place(operator)
            how = f"the folder {folder.name} is {operator}"
            if not place.startswith("ops."):
                how = f"{how}, which takes what torch.{place} takes"
            pairs.append(Pair(place, Kernel(file.resolve(), function), gradients=False, how=how))
    return pairs, left


def _of_files(folder: Path) -> tuple[list[Pair], list[Left]]:
    pairs: list[Pair] = []
    left: list[Left] = []
    for file in sorted(folder.glob("*.py")):
        names = [name for name in _names(file) if not name.startswith("_")]
        ops = [path for name in names if (path := public_named(name)) is not None]
        if len(names) != 1:
            count = "no public function" if not names else f"{len(names)} public functions ({', '.join(names)})"
            left.append(Left(file, f"it has {count}, but should have one"))
        elif not ops:
            left.append(Left(file, f"PyTorch has no public function {names[0]}"))
        else:
            how = f"{file.name} has the function {names[0]} alone"
            pairs.append(Pair(ops[0], Kernel(file.resolve(), names[0]), how=how))
    return pairs, left


def read_module(problem: Path, file: Path | None = None) -> ModulePair:
    """A problem with the module in `file`, by default the one in the only file beside it that has one, or in its own.

    Raises UsageError where there is none, or several.
    """
    if not {"Model", "get_inputs", "get_init_inputs"} <= {*_names(problem, classes=True)}:
        raise UsageError(
            f"KERNEL='{problem}', but should be FILE.py:FUNCTION, the kernel of an op, or a problem, with Model, "
            "get_inputs and get_init_inputs"
        )
    if file is not None:
        if NEW not in _names(file, classes=True):
            raise UsageError(f"KERNEL='{file}', but should have a module {NEW}")
        return ModulePair(problem.resolve(), file.resolve())
    if NEW in _names(problem, classes=True):
        return ModulePair(problem.resolve(), problem.resolve())
    beside = [one for one in sorted(problem.parent.glob("*.py")) if one != problem and NEW in _names(one, classes=True)]
    if len(beside) != 1:
        told = ", ".join(one.name for one in beside) or "none"
        raise UsageError(f"KERNEL='{problem}', but should have one file beside it with a module {NEW}: there is {told}")
    return ModulePair(problem.resolve(), beside[0].resolve())


def _names(file: Path, *, classes: bool = False) -> list[str]:
    """The functions that a file defines at its top, by name, decorated ones too, or the `classes` as well."""
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError) as error:
        raise UsageError(f"{file} cannot be read as Python: {error}") from None
    wanted = (ast.FunctionDef, ast.ClassDef) if classes else (ast.FunctionDef,)
    return [node.name for node in tree.body if isinstance(node, wanted)]


__all__ = ["Left", "Pair", "read_kernels", "read_module", "read_pairs"]
