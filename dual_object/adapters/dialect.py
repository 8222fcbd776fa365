"""Dialects: what a target calls PyTorch's functions, methods and layers, and their arguments, one row of data for each.

A dialect is a JSON file with one row in each line, so that a change of it reads as a change of rows:

    {"about": "where this table comes from",
     "rows": {
     "abs": {},
     "nn.functional.relu": {"to": "nn.relu"},
     "sum": {"args": ["input", "dim", "keepdim", "*", "dtype"], "rename": {"input": "a", "dim": "axis"}}
    }}

A row is found under the path of a Program: `sum`, `nn.functional.relu`, `Tensor.sum` for a method or an attribute. A
method without a row of its own is the function of its name, which gets the tensor first.

- `to`: the target's path of it, below the framework's root; without it, the same path. What begins with `Tensor.` is an
  attribute of the tensor at hand.
- `args`: the names of PyTorch's arguments, in PyTorch's order, without a method's tensor: what is given by place is
  handed on by name. After `*` an argument is given by name alone; `*size` is a list that people may also give as
  several arguments.
- `places`: so many of the first arguments are handed on by place after all: the target has no names for them.
- `rename`: what the target calls an argument; a list where one argument becomes several.
- `constants`: arguments of the target, and what they are unless a caller says something else.
- `ignored`: arguments that change nothing that is compared, and are not handed on.
- `unsupported`: arguments that the target does not have, and the value of each that asks for nothing.
- `fields`: the names under which PyTorch returns several results.
- `get`: PyTorch has an attribute where the target has a method.
- `code`: the name of a small function of the adapter's module that does it instead, called as PyTorch's is.

A name that the dialect has no row for raises UnmappedOp: nobody has said what it is there. One whose row names what the
target does not have raises MissingOp.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections import namedtuple
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from dual_object.errors import DialectError, MissingOp, UnmappedOp

#: What becomes of an op on its way: nothing, another name or other arguments, a function written for it.
RowClass = Literal["same", "renamed", "code"]

#: PyTorch takes NumPy's names of some arguments, too.
_NUMPY_NAMES = MappingProxyType({"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x2": "other"})
_METHODS = "Tensor."


@dataclass(frozen=True, slots=True)
class Row:
    """One row; the module's docstring says what each field means.

    Raises DialectError where the fields contradict each other.
    """

    path: str
    to: str = ""
    args: tuple[str, ...] = ()
    places: int = 0
    rename: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    unsupported: Mapping[str, Any] = field(default_factory=dict)
    fields: tuple[str, ...] = ()
    get: bool = False
    code: str = ""

    def __post_init__(self) -> None:
        """Check it: what is said of an argument that is none would never be asked for."""
        known = {name.lstrip("*") for name in self.args}
        said = [*self.rename, *self.ignored, *self.unsupported]
        strange = next((name for name in said if known and name not in known), None)
        if strange is not None:
            raise DialectError(
                f"argument {strange!r}, but should be one of {', '.join(sorted(known - {''}))} [{self.path}]"
            )
        twice = next((name for name in said if said.count(name) > 1), None)
        if twice is not None:
            raise DialectError(f"argument {twice!r} is said twice of, but should be once [{self.path}]")

    @property
    def target(self) -> str:
        """The target's path."""
        return self.to or self.path

    @property
    def kind(self) -> RowClass:
        """What becomes of the op."""
        if self.code:
            return "code"
        return "renamed" if self.target != self.path or self.rewrites or self.fields or self.get else "same"

    @property
    def words(self) -> str:
        """What becomes of the op, for people: `renamed to nn.relu`, `a function of the table`; empty where nothing
        does.
        """
        if self.code:
            return f"{self.code}, a function written for it"
        renamed = ", ".join(
            f"{name}={to if isinstance(to, str) else '='.join(to)}" for name, to in self.rename.items() if name != to
        )
        told = [f"renamed to {self.target}"] if self.target != self.path else []
        told += [f"arguments {renamed}"] if renamed else []
        told += [f"always {name}={value!r}" for name, value in self.constants.items()]
        return ", ".join(told)

    @property
    def rewrites(self) -> bool:
        """Whether a call has other arguments on the target."""
        return any((self.args, self.rename, self.constants, self.ignored, self.unsupported))

    @classmethod
    def from_json(cls, path: str, data: Mapping[str, Any]) -> Row:
        """The row of `path` as a dialect's file has it; raises DialectError."""
        known = {f.name for f in fields(cls)} - {"path"}
        strange = next((name for name in data if name not in known), None)
        if strange is not None:
            raise DialectError(f"field {strange!r}, but should be one of {', '.join(sorted(known))} [{path}]")
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in data.items()
        }
        if "rename" in given:
            given["rename"] = {k: tuple(v) if isinstance(v, list) else v for k, v in given["rename"].items()}
        return cls(path, **given)

    def told(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], before: int = 0
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What the target is called with where PyTorch would be called with these; `before` of them come before those
        that `args` names: a method's tensor.

        Raises TypeError where PyTorch takes no such arguments, NotImplementedError where the target does not.
        """
        args, named = self._named(args, kwargs, before)
        placed = itertools.takewhile(lambda name: name in named, self.args[: self.places])
        args = (*args, *[named.pop(name) for name in placed])
        told: dict[str, Any] = {}
        for name, value in named.items():
            if name in self.unsupported:
                self._refuse(name, value)
            elif name not in self.ignored:
                to = self.rename.get(name, name)
                told.update(dict.fromkeys((to,) if isinstance(to, str) else to, value))
        return args, {**self.constants, **told}

    def _refuse(self, name: str, value: Any) -> None:
        nothing = self.unsupported[name]
        if type(value) is not type(nothing) or value != nothing:
            raise NotImplementedError(f"{self.target} has no argument {name!r} of {self.path}")

    def _named(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], before: int
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments by PyTorch's names, after those that are handed on by place."""
        if not self.args:
            return args, kwargs
        own, given = args[:before], args[before:]
        named: dict[str, Any] = {}
        places = self.args[: self.args.index("*")] if "*" in self.args else self.args
        for place, name in enumerate(places):
            if place >= len(given):
                break
            if name.startswith("*"):
                rest = given[place:]
                named[name[1:]] = rest[0] if len(rest) == 1 and isinstance(rest[0], (tuple, list)) else list(rest)
                break
            named[name] = given[place]
        else:
            if len(given) > len(places):
                raise TypeError(f"{self.path} takes {len(places)} arguments by place, but was given {len(given)}")
        known = {name.lstrip("*") for name in self.args}
        for key, value in kwargs.items():
            name = key if key in known else _NUMPY_NAMES.get(key, key)
            if name not in known:
                raise TypeError(f"{self.path} got an unexpected keyword argument {key!r}")
            if name in named:
                raise TypeError(f"{self.path} got several values for argument {name!r}")
            named[name] = value
        return own, named


class Dialect:
    """The rows of one target, with the framework's objects behind them.

    Args:
        name: the target's, for its messages.
        rows: all of them.
        root: the framework's module: what every path is below.
        code: the functions that rows name, by their names; a module's `vars` will do.

    Raises DialectError where a row names a function that is not there.
    """

    def __init__(self, name: str, rows: Iterable[Row], root: Any, code: Mapping[str, Any]) -> None:
        self.name = name
        self._rows = {row.path: row for row in rows}
        self._root = root
        self._code = code
        self._found: dict[str, Any] = {}
        for row in self._rows.values():
            if row.code and not callable(code.get(row.code)):
                raise DialectError(f"code={row.code!r}, but should be a function of the adapter's module [{row.path}]")

    @classmethod
    def load(cls, name: str, path: Path, root: Any, code: Mapping[str, Any]) -> Dialect:
        """The dialect of a file; raises DialectError where that is none."""
        return cls(name, read(path), root, code)

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, path: str) -> Row | None:
        """The row of a path, or None: a method's own one, or that of the function of its name."""
        row = self._rows.get(path)
        if row is None and path.startswith(_METHODS):
            row = self._rows.get(path[len(_METHODS) :])
        return row

    def translations(self) -> dict[str, str]:
        """What the target calls each op that it does not call the same, in words, by path."""
        return {path: row.words for path, row in self._rows.items() if row.words}

    def resolve(self, path: str) -> Any:
        """What the target has for PyTorch's object at `path`, to be called as that is. Raises UnmappedOp, MissingOp."""
        found = self._found.get(path)
        if found is None:
            row = self.row(path)
            if row is None:
                raise UnmappedOp(f"the dialect of {self.name} has no row for {path!r}")
            found = self._found[path] = self._call(row)
        return found

    def attribute(self, receiver: Any, name: str) -> Any:
        """What PyTorch has as an attribute or a method of a tensor. Raises UnmappedOp, MissingOp, and whatever an
        attribute's own code raises.
        """
        path = _METHODS + name
        row = self.row(path)
        if row is None or row.code or not row.target.startswith(_METHODS):
            function = self.resolve(path)
            if row is not None and row.get:
                return function(receiver)
            return lambda *args, **kwargs: function(receiver, *args, **kwargs)
        own = row.target[len(_METHODS) :]
        try:
            member = getattr(receiver, own)
        except AttributeError as error:
            if hasattr(type(receiver), own):  # it exists, and its own code failed
                raise
            raise self._missing(row) from error
        return member() if row.get else _called(row, member, 0)

    def _missing(self, row: Row) -> MissingOp:
        return MissingOp(f"{self.name} has no {row.target!r}, which its dialect has for {row.path!r}")

    def _call(self, row: Row) -> Any:
        function = self._code[row.code] if row.code else self._follow(row)
        return _called(row, function, 1 if row.path.startswith(_METHODS) else 0)

    def _follow(self, row: Row) -> Any:
        found = self._root
        for part in row.target.split("."):
            found = getattr(found, part, None)
            if found is None:
                raise self._missing(row)
        return found


def _called(row: Row, function: Any, before: int) -> Any:
    """`function`, to be called as PyTorch's is, with so many arguments before those that the row names; itself where
    there is nothing to change, or nothing to call.
    """
    if row.code or not callable(function) or not (row.rewrites or row.fields):
        return function

    def call(*args: Any, **kwargs: Any) -> Any:
        told, named = row.told(args, kwargs, before) if row.rewrites else (args, kwargs)
        given = function(*told, **named)
        several = row.fields and isinstance(given, (tuple, list)) and len(given) == len(row.fields)
        return _named_tuple(row.fields)(*given) if several else given

    return call


@functools.cache
def _named_tuple(names: tuple[str, ...]) -> Any:
    return namedtuple("Result", names)


def read(path: Path) -> list[Row]:
    """The rows of a dialect's file; raises DialectError, which names the file, where it is none."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_once)
        return [Row.from_json(name, row) for name, row in data["rows"].items()]
    except (DialectError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DialectError(f"{path.name} is no dialect: {error}") from error


def table(folder: Path) -> dict[str, Row]:
    """The rows of an adapter's folder, by PyTorch's path; what is written by hand goes before what is derived. Raises
    DialectError.
    """
    files = (folder / name for name in ("dialect.json", "by_hand.json"))
    return {row.path: row for file in files if file.is_file() for row in read(file)}


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON whose names are all different: Python keeps the last of two rows and says nothing."""
    rows: dict[str, Any] = {}
    for name, row in pairs:
        if name in rows:
            raise DialectError(f"{name!r} is there twice, but should be once")
        rows[name] = row
    return rows


def written(about: str, rows: Mapping[str, Mapping[str, Any]]) -> str:
    """The text of a dialect's file: one row in each line, sorted by path."""
    lines = [f"{json.dumps(path)}: {json.dumps(rows[path])}" for path in sorted(rows)]
    return f'{{"about": {json.dumps(about)},\n"rows": {{\n' + ",\n".join(lines) + "\n}}\n"


__all__ = ["Dialect", "Row", "RowClass", "read", "table", "written"]
