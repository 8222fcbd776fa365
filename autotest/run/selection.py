"""What a run was asked to run, as text: the runs of one selection are those that can be compared."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any

import pytest

#: Options of pytest that choose tests, and how they are typed.
_CHOICES = (("keyword", "-k"), ("markexpr", "-m"))
_LISTS = (("deselect", "--deselect"), ("ignore", "--ignore"), ("ignore_glob", "--ignore-glob"))
_FLAGS = (("lf", "--lf"), ("stepwise", "--stepwise"))


def selection(config: pytest.Config) -> str:
    """What chooses the tests of a run: `suites`, `suites/test_matmul.py -k einsum`, `suites --shard 1/2`.

    Paths are relative to pytest's root folder, so that a run means the same wherever it was started.
    """
    parts = sorted({_relative(argument, config) for argument in config.args})
    for name, typed in _CHOICES:
        value = config.getoption(name, "")
        parts += [typed, value] if value else []
    for name, typed in _LISTS:
        parts += [part for value in config.getoption(name, None) or () for part in (typed, str(value))]
    parts += [typed for name, typed in _FLAGS if config.getoption(name, False)]
    parts += _own("--case", config.getoption("--autotest-case"))
    return shlex.join([*parts, *_own("--shard", config.getoption("--autotest-shard"))])


def _own(typed: str, value: Any) -> list[str]:
    return [] if value is None else [typed, str(value)]


def _relative(argument: str, config: pytest.Config) -> str:
    """A node id or path as it is from the root folder."""
    path, colons, rest = argument.partition("::")
    place = Path(os.path.relpath(Path(config.invocation_params.dir) / path, config.rootpath))
    return f"{place.as_posix()}{colons}{rest}"


__all__ = ["selection"]
