"""A survey of tolerances: run a suite, then tell and keep what its ops need."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autotest.exits import USAGE


def survey(paths: Sequence[str], workers: str, options: Mapping[str, Any], width: int) -> tuple[int, str]:
    """Run pytest on `paths` and return its exit status with the table; `width` is in columns."""
    from autotest.commands.run import run_pytest
    from reports import ReportError, read_run, resolve_run, summarize
    from reports.tallies.tolerances import save_tolerances, tolerance_text

    status = run_pytest(paths, workers, {**options, "survey": True})
    try:
        folder = resolve_run(Path(options["report"]))
        rows = summarize(read_run(folder)).tolerances
        path = save_tolerances(folder, rows)
    except (ReportError, OSError) as error:
        return status or USAGE, f"no survey: {error}\n"
    encoding = sys.stdout.encoding or "utf-8"
    return status, f"\n{tolerance_text(rows, max(width, 120), encoding)}\ntolerances: {path}\n"
