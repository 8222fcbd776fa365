"""What a run came to, in a few words."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from autotest.run.progress.ticker import Ticker


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What a finished run has to say: `text` for the terminal, lines for GitHub, whether the harness was at fault, and
    whether its files could be written.
    """

    text: str
    annotations: Sequence[str]
    faulty: bool
    written: bool


def sum_up(folder: Path, config: pytest.Config, repro_total: float, ticker: Ticker | None) -> Conclusion:
    """`tell`, for the terminal that pytest writes to, which has shown its failed tests before."""
    reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
    writer = getattr(reporter, "_tw", None)
    width, color = getattr(writer, "fullwidth", 80), bool(getattr(writer, "hasmarkup", False))
    shows = reporter is not None and config.option.tbstyle not in ("no", "line")
    failures = [report.longreprtext for report in reporter.stats.get("failed", ())] if shows else []
    return tell(folder, width, color, repro_total, failures, ticker)


def tell(
    folder: Path,
    width: int,
    color: bool,
    repro_total: float,
    failures: Sequence[str] = (),
    ticker: Ticker | None = None,
) -> Conclusion:
    """Write repros, summary.json and the HTML report, drop old runs, and append to the step summary that GitHub asks
    for. The repros take at most some `repro_total` seconds to be verified. `failures` are texts of failed tests that
    are shown besides: what they tell of a divergence is not told again. The `ticker` shows how far this is.
    """
    from autotest.run.progress.stages import forget
    from reports import (
        RecordError,
        append_step_summary,
        github_annotations,
        load_repros,
        prune_runs,
        read_run,
        render,
        save_site,
        save_summary,
        summarize,
    )

    def doing(what: str) -> None:
        if ticker is not None:
            ticker.doing = what

    forget(folder)
    doing("reading the records")
    summary = summarize(read_run(folder))
    page, problem = None, ""
    try:
        if summary.divergences:
            from autotest.repro.verifying import write_repros

            doing("running the scripts of divergences")
            write_repros(
                folder,
                summary,
                repro_total,
                lambda done, of: doing(f"running the scripts of divergences: {done} of {of} done"),
            )
            summary = replace(summary, repros=load_repros(folder))
        doing("writing the report")
        save_summary(folder, summary)
        prune_runs(folder.parent.parent)
        page = save_site(folder, summary)
        step = os.environ.get("GITHUB_STEP_SUMMARY")
        if step:
            append_step_summary(Path(step), summary)
    except RecordError as error:
        problem = f"\n{error}"
    text = render(
        summary,
        width=width,
        color=color,
        encoding=getattr(sys.stdout, "encoding", None) or "utf-8",
        page=page,
        told={row.fingerprint for row in summary.divergences if any(row.fingerprint in text for text in failures)},
    )
    lines = github_annotations(summary) if os.environ.get("GITHUB_ACTIONS") == "true" else []
    return Conclusion(f"{text}{problem}", lines, bool(summary.faults), not problem)
