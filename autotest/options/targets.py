"""Targets that a project has names for, in its `pyproject.toml`, and how any target is started.

```toml
[tool.autotest.targets.mine]
adapter = "package.module:Class"    # by default the name itself: a target that comes with the harness
python = "../.venv-mine/bin/python" # by default the interpreter that runs the tests
environment = { FLAGS = "1" }
```
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from autotest import toml
from autotest.errors import UsageError
from autotest.options.overrides import Override, overridden
from autotest.workers.forking.forks import Forks
from autotest.workers.launch import FORKED, Launch

#: Names the interpreter of any target.
VARIABLE = "AUTOTEST_TARGET_PYTHON"
_FILE = "pyproject.toml"


def named_targets(folder: Path) -> Mapping[str, Launch]:
    """The targets that the nearest `pyproject.toml` has names for, of `folder` and those above it, whether or not their
    interpreters are there.

    Raises UsageError for a table that says something else than it should.
    """
    for place in (folder, *folder.parents):
        file = place / _FILE
        if file.is_file():
            tables = _table(file)
            if tables is not None:
                return {name: _launch(file, name, table) for name, table in tables.items()}
    return {}


def launch(
    target: str, python: str | None = None, folder: Path | None = None, overrides: Sequence[Override] = ()
) -> Launch:
    """How the process of a target is started: `python` before the environment variable before the project's table;
    with kernels in the place of ops, where there are `overrides`.

    Raises UsageError for an interpreter that there is not, and for overrides that a target can have none of.
    """
    return overridden(_launched(target, python, folder), overrides)


def _launched(target: str, python: str | None, folder: Path | None) -> Launch:
    found = named_targets(folder or Path.cwd()).get(target, Launch(target))
    table = f"tool.autotest.targets.{target}.python in pyproject.toml"
    for given, knob in ((python, "--target-python"), (os.environ.get(VARIABLE), VARIABLE), (found.python, table)):
        if given:
            return replace(found, python=interpreter(given, knob))
    if target in FORKED and not found.adapter:
        return replace(found, forks=Forks(*FORKED[target], unforked=1))
    return found


def interpreter(given: str, knob: str) -> str:
    """An interpreter as a path that holds in any folder, or by a name to be looked up; raises UsageError where none is
    there.
    """
    path = shutil.which(given)
    if path is None:
        raise UsageError(f"target_python={given!r}, but should be the path of a Python interpreter [{knob}]")
    return os.path.abspath(path)


def _table(file: Path) -> Mapping[str, Any] | None:
    try:
        tables = toml.loads(file.read_text()).get("tool", {}).get("autotest", {}).get("targets")
    except (OSError, ValueError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from None
    if tables is not None and not isinstance(tables, dict):
        raise UsageError(f"tool.autotest.targets={tables!r} in {file}, but should be a table of tables")
    return tables


def _launch(file: Path, name: str, table: Any) -> Launch:
    where = f"tool.autotest.targets.{name}"
    if not isinstance(table, dict):
        raise UsageError(f"{where}={table!r} in {file}, but should be a table")
    if ":" in name or "," in name:
        raise UsageError(f"{where} in {file}, but should be a name without ':' and ','")
    for key in table:
        if key not in ("adapter", "python", "environment"):
            raise UsageError(f"{where}.{key} in {file}, but should be adapter, python or environment")
    for key in ("adapter", "python"):
        if not isinstance(table.get(key, ""), str):
            raise UsageError(f"{where}.{key}={table[key]!r} in {file}, but should be a text")
    environment = table.get("environment", {})
    if not isinstance(environment, dict) or not all(isinstance(value, str) for value in environment.values()):
        raise UsageError(f"{where}.environment={environment!r} in {file}, but should be a table of texts")
    python = table.get("python")
    if python is not None and "/" in python:
        python = str(file.parent / python)
    return Launch(name, table.get("adapter", ""), python, environment)


__all__ = ["VARIABLE", "interpreter", "launch", "named_targets"]
