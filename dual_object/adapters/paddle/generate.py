"""Derive `dialect.json` from the tables of PaConvert, PaddlePaddle's own converter of PyTorch programs.

    $ pip install paconvert
    $ python -m dual_object.adapters.paddle.generate

PaConvert has a row for each of PyTorch's names: the name and arguments that Paddle has for it, and the class of its
converter that writes the call. Those classes whose calls differ in names alone become rows here; a class that writes
code does not, and where the suites need what it converts, `by_hand.json` has a row of our own, which wins.
"""

from __future__ import annotations

import ast
import importlib.metadata
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dual_object.adapters.dialect import written

TABLE = Path(__file__).with_name("dialect.json")

#: Whose calls have the same arguments under the same names.
_PREFIX = frozenset({"ChangePrefixMatcher", "ChangeAPIMatcher", "TensorFunc2PaddleFunc"})
#: Whose calls have the same arguments under other names.
_RENAMING = frozenset({"GenericMatcher", "DoubleAssignMatcher", "TripleAssignMatcher", "SizeAverageMatcher"})
_ATTRIBUTE = "Attribute2Func"
#: Where a Program's calls are found; the rest of PyTorch is no op.
_HOMES = frozenset({"", "Tensor", "nn", "linalg", "special", "fft", "autograd", "functional", "signal", "sparse"})
#: Arguments that PaConvert's converters leave out, since they change no value ...
_IGNORED = frozenset({"layout", "device", "memory_format", "non_blocking", "async"})
#: ... and those that they leave out, or write a statement for, though they ask for something: with the value that asks
#: for nothing. They say so where they have a name of Paddle's for one.
_ASKING = MappingProxyType(
    {
        "inplace": False,
        "generator": None,
        "out": None,
        "dtype": None,
        "pin_memory": False,
        "requires_grad": False,
        "size_average": None,
        "reduce": None,
    }
)


def rows(apis: Mapping[str, Any], attributes: Mapping[str, Any], aliases: Mapping[str, str]) -> dict[str, Any]:
    """The rows of a dialect, from PaConvert's three tables."""
    found: dict[str, Any] = {}
    for name, entry in {**apis, **attributes}.items():
        path = _path(name)
        if path is not None and (row := _row(path, entry)) is not None:
            found[path] = row
    for alias, name in aliases.items():
        path, meant = _path(alias), _path(name)
        if path is not None and path not in found and meant in found:
            found[path] = {"to": meant, **found[meant]}
    return found


def _path(name: str) -> str | None:
    """The path of a Program for one of PaConvert's names, None for what no Program calls."""
    framework, _, path = name.partition(".")
    home = path.partition(".")[0] if "." in path else ""
    return path if framework == "torch" and home in _HOMES else None


def _row(path: str, entry: Mapping[str, Any]) -> dict[str, Any] | None:
    matcher = entry.get("Matcher")
    to = entry.get("paddle_api", f"paddle.{path}").removeprefix("paddle.")
    row: dict[str, Any] = {} if to == path else {"to": to}
    if matcher in _PREFIX:
        return row
    if matcher == _ATTRIBUTE:
        return {**row, "get": True}
    constants = entry.get("paddle_default_kwargs", {})
    if matcher not in _RENAMING or any(str(value).startswith("paddle.") for value in constants.values()):
        return None
    args = entry.get("args_list", [])
    names = {name.lstrip("*") for name in args}
    renamed = {
        name: to for name, to in entry.get("kwargs_change", {}).items() if name in names and (to or name not in _ASKING)
    }
    lacking = [name for name in entry.get("unsupport_args", []) if name in names]
    kept = {*renamed, *lacking}
    fields = {
        "args": args,
        "rename": {name: to for name, to in renamed.items() if to not in ("", name) and name not in lacking},
        "constants": {name: _constant(value) for name, value in constants.items()},
        "ignored": [
            name
            for name in args
            if (not renamed.get(name, name) and name not in lacking) or (name in _IGNORED and name not in kept)
        ],
        "unsupported": {
            **dict.fromkeys(lacking),
            **{name: _ASKING[name] for name in args if name in _ASKING and name not in kept},
        },
    }
    return {**row, **{name: value for name, value in fields.items() if value}}


def _constant(value: Any) -> Any:
    """A constant, which PaConvert writes as the text of Python's literal where it is no number."""
    return ast.literal_eval(value) if isinstance(value, str) else value


def generated() -> str:
    """The text of the table, from the installed PaConvert. Raises PackageNotFoundError where there is none."""
    version = importlib.metadata.version("paconvert")
    package = Path(str(importlib.metadata.distribution("paconvert").locate_file("paconvert")))
    tables = ("api_mapping.json", "attribute_mapping.json", "api_alias_mapping.json")
    about = (
        f"Made by dual_object.adapters.paddle.generate from the tables of PaConvert {version}, which is "
        "Copyright (c) PaddlePaddle Authors, licensed under the Apache License, Version 2.0. Do not edit: what is "
        "to be said otherwise is said in by_hand.json."
    )
    return written(about, rows(*(json.loads((package / name).read_text(encoding="utf-8")) for name in tables)))


if __name__ == "__main__":
    TABLE.write_text(generated(), encoding="utf-8")
    sys.stdout.write(f"{TABLE}: {TABLE.read_text(encoding='utf-8').count(chr(10)) - 3} rows\n")
