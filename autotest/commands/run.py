"""Start pytest for `autotest run`: how many processes, which options, which exit status."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path

import click

from autotest.exits import USAGE

#: A pytest worker with its target worker holds about so much.
BYTES_PER_PROCESS = 2 << 30


def run_pytest(paths: Sequence[str], workers: str, options: Mapping[str, str], flags: Sequence[str] = ()) -> int:
    """Run pytest in this process; returns the documented exit status."""
    import pytest

    refuse_missing(paths)
    count = processes(workers)
    arguments = [*paths, *(f"--autotest-{name}={value}" for name, value in options.items())]
    arguments += [f"--autotest-{name}" for name in flags]
    # pytest would rewrite the asserts of plugin packages; this one is imported already, and its asserts are for
    # readers.
    arguments = ["-W", "ignore:Module already imported so cannot be rewritten; autotest", *arguments]
    if count:
        # A pytest worker dies only of what is not ours; none of its tests should be lost for it.
        arguments = ["-n", str(count), "--max-worker-restart", "1000", *arguments]
    status = int(pytest.main(arguments))
    return USAGE if status == pytest.ExitCode.USAGE_ERROR else status


def refuse_missing(paths: Sequence[str]) -> None:
    """Refuse a path that does not exist: pytest-xdist only says that no test ran. PATHS end where pytest's own
    options begin.
    """
    for path in takewhile(lambda argument: not argument.startswith("-"), paths):
        if not Path(path.partition("::")[0]).exists():
            raise click.UsageError(f"PATHS={path!r}, but should be a file, a folder, or a node id of an existing file")


def processes(workers: str) -> int:
    """The number of pytest workers: as asked, or `auto`: min(cores, free memory / 2 GB), at least one."""
    if workers == "auto":
        import psutil

        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return max(1, min(cores, psutil.virtual_memory().available // BYTES_PER_PROCESS))
    if not workers.isdecimal():
        raise click.UsageError(f"-n={workers!r}, but should be a whole number of at least 0, or 'auto'")
    return int(workers)
