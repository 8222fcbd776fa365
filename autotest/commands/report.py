"""`autotest report` and `autotest merge`: runs that were, summed up again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from autotest.options.table import OPTIONS
from reports import (
    Summary,
    join_status,
    junit_xml,
    load_status,
    markdown_text,
    merge_runs,
    png_picture,
    read_run,
    render,
    resolve_run,
    save_site,
    save_summary,
    summarize,
    svg_picture,
)

#: What is said of a run whose records are whole, but whose end is not there.
UNENDED = "pytest itself never ended, or still runs"
#: Where the runs lie that a run's name alone is looked for in.
USUAL = Path(str(OPTIONS["report"].default))


def report_text(folder: Path, form: str, *, width: int, color: bool, encoding: str) -> str:
    """Sum up a run, or the latest of a report folder, and tell of it in the form that is asked for.

    Raises ReportError where there is no run or its files cannot be written.
    """
    summary, page = _sum_up(resolve_run(folder, USUAL))
    if form == "markdown":
        return markdown_text(summary)
    if form == "junit":
        return junit_xml(summary)
    if form == "svg":
        return svg_picture(summary)
    return f"{render(summary, width=width, color=color, encoding=encoding, page=page)}\n"


def report_png(folder: Path) -> bytes:
    """Sum up a run, or the latest of a report folder, as a picture. Raises ReportError as `report_text`, and where the
    library is not there that draws it.
    """
    summary, _ = _sum_up(resolve_run(folder, USUAL))
    return png_picture(summary)


def merge_text(
    folders: Sequence[Path], report: Path, *, width: int, color: bool, encoding: str
) -> tuple[int, str, list[str]]:
    """Join the runs of shards into a new run of `report`: its exit status, its summary, and what is missing in it.

    Raises ReportError where they do not belong together.
    """
    merged = merge_runs(folders, report)
    summary, page = _sum_up(merged.folder, joined=True)
    status = join_status(merged, summary)
    text = f"{render(summary, width=width, color=color, encoding=encoding, page=page)}\n"
    missing = [f"{run} never ended: its tests that did not run are not in this report" for run in merged.unended]
    return status, text, missing


def _sum_up(run: Path, *, joined: bool = False) -> tuple[Summary, Path]:
    """Write a run's summary.json and page anew; the summary and the page. What is `joined` has no end of its own."""
    summary = summarize(read_run(run))
    # Workers whose pytest was killed end their tests in order: nothing else says that the others never began.
    if summary.complete and not joined and load_status(run) is None:
        summary = replace(summary, stops=(UNENDED,))
    save_summary(run, summary)
    return summary, save_site(run, summary)
