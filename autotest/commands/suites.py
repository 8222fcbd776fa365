"""`autotest run --suites`: the suites as they were installed, with their ledger, from any folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

import click

HOME = Path(__file__).resolve().parents[2] / "suites"


def suite_arguments(paths: Sequence[str], home: Path = HOME) -> tuple[str, ...]:
    """PATHS of the suites, and pytest's own arguments behind them, as `autotest run` takes them.

    The suites bring pytest's settings along: those of the folder where they are run are about other tests. What a run
    leaves behind belongs to that folder all the same. Raises click.UsageError for a path that the suites do not have.
    """
    named = [*takewhile(lambda argument: not argument.startswith("-"), paths)]
    if not (home / "pytest-suites.ini").is_file():
        raise click.UsageError(f"--suites: {home} is not there; install op-autotest again, whole")
    for path in named:
        name = path.partition("::")[0]
        if not (home / name).exists():
            raise click.UsageError(
                f"PATHS={path!r}: the suites in {home} have no {name}, but it should be a file, a folder, or the file "
                "of a node id there [--suites]"
            )
    asked = [str(home / path) for path in named] or [str(home)]
    settings = ["-c", str(home / "pytest-suites.ini"), "--rootdir", os.getcwd()]
    return (*asked, *settings, *paths[len(named) :])
