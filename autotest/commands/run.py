"""Start pytest for `autotest run`: how many processes, which options, which exit status."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import click

from autotest.errors import UsageError
from autotest.exits import USAGE
from autotest.options.table import OPTIONS

#: pytest in a process of its own, for `python -c`: `-m` would put the folder of the run, which may have modules that
#: are called as ours are, before all others on the import path.
PYTEST = "import sys; sys.path[:1] = filter(None, sys.path[:1]); import pytest; sys.exit(pytest.main())"
#: A pytest worker with its target worker holds about so much.
BYTES_PER_PROCESS = 2 << 30
#: More than one machine has cores; each is a process that imports PyTorch, and starts another one.
MOST_PROCESSES = 512


def run_pytest(paths: Sequence[str], workers: str, options: Mapping[str, Any]) -> int:
    """Run pytest in this process; returns the documented exit status."""
    import pytest

    refuse_missing(paths)
    refuse_meaningless(options)
    count = processes(workers)
    # pytest would rewrite the asserts of plugin packages; ours are imported already, and their asserts are for readers.
    ignored = ["-W", "ignore:Module already imported so cannot be rewritten"]
    # A file that cannot be imported is red; with workers or without, the tests of the others run.
    arguments = [*ignored, "--continue-on-collection-errors", *paths, *pytest_arguments(options)]
    if count:
        # A pytest worker dies only of what is not ours; none of its tests should be lost for it.
        arguments = ["-n", str(count), "--max-worker-restart", "1000", *arguments]
    began = Began()
    try:
        status = int(pytest.main(arguments, plugins=[began]))
    except KeyboardInterrupt:  # pytest takes it only while its session lasts
        click.echo(f"interrupted {'after the run' if began.session else 'before a test had begun'}", err=True)
        return USAGE
    return USAGE if status == pytest.ExitCode.USAGE_ERROR else status


class Began:
    """Whether pytest's session has begun."""

    def __init__(self) -> None:
        self.session = False

    def pytest_sessionstart(self) -> None:
        """As pytest calls it."""
        self.session = True


def pytest_arguments(options: Mapping[str, Any]) -> list[str]:
    """Options of a run by name, as pytest takes them; None and False stand for what was not given, a tuple for what may
    be given often.
    """
    given = {name: value for name, value in options.items() if value is not None and value is not False}
    typed = {OPTIONS[name].typed_for_pytest: value for name, value in given.items()}
    return [
        option if value is True else f"{option}={text}"
        for option, value in typed.items()
        for text in (value if isinstance(value, tuple) else [value])
    ]


def refuse_missing(paths: Sequence[str]) -> None:
    """Refuse a path that does not exist: pytest-xdist only says that no test ran. PATHS end where pytest's own
    options begin.
    """
    for path in takewhile(lambda argument: not argument.startswith("-"), paths):
        name = path.partition("::")[0]
        if not Path(name).exists():
            raise click.UsageError(
                f"PATHS={path!r}: {name} is not there, but should be a file, a folder, or the file of a node id"
            )


def refuse_meaningless(options: Mapping[str, Any]) -> None:
    """Refuse a value that means nothing by the option that was typed: pytest knows it by another name.

    Raises click.UsageError.
    """
    texts = {name: value for name, value in options.items() if isinstance(value, (str, tuple))}
    for name, value in texts.items():  # numbers and flags have been read by click
        option = OPTIONS[name]
        try:
            option.read(value, option.typed)
        except UsageError as error:
            raise click.UsageError(str(error)) from None


def processes(workers: str) -> int:
    """The number of pytest workers: as asked, or `auto`: min(cores, free memory / 2 GB), at least one."""
    if workers == "auto":
        import psutil

        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return max(1, min(cores, psutil.virtual_memory().available // BYTES_PER_PROCESS))
    if not workers.isdecimal():
        raise click.UsageError(f"-n={workers!r}, but should be a whole number of at least 0, or 'auto'")
    if int(workers) > MOST_PROCESSES:
        raise click.UsageError(f"-n={workers}, but should be at most {MOST_PROCESSES}, or 'auto'")
    return int(workers)
