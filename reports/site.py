"""The HTML report on disk: a page per run, the data files that it opens, and index.html of the latest run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from reports.difference import RunDifference, compare_runs
from reports.errors import RecordError, ReportError
from reports.findings import findings
from reports.folders import load_status, replace_text, runs, unwritable
from reports.page import detail_data, render_page
from reports.saved import load_saved, saved_of
from reports.summary import Summary
from reports.templating import script_call

DATA = "report"
STATUS_WORDS = {0: "aligned", 1: "red", 2: "not finished", 3: "fault of the harness", 5: "no test"}


def save_site(run_folder: Path, summary: Summary) -> Path:
    """Write the page of a run and its data files; return index.html, that of the report folder for its latest run.

    Pages of other runs stay as they are. Raises RecordError where a file cannot be written.
    """
    data = run_folder / DATA
    try:
        if data.exists():
            shutil.rmtree(data)
        (data / "divergences").mkdir(parents=True)
        for finding in findings(summary.all_divergences):
            text = script_call("autotest.detail", detail_data(finding, summary))
            (data / "divergences" / f"{finding.first.id}.js").write_text(text, encoding="ascii")
        (data / "coverage.js").write_text(
            script_call("autotest.coverage", summary.coverage.to_json()), encoding="ascii"
        )
    except OSError as error:
        raise unwritable(data, str(error.strerror)) from error
    run = run_folder.resolve()
    page = run_folder / "index.html"
    if run.parent.name != "runs":
        replace_text(
            page, render_page(summary, f"{DATA}/", "Kept outside a report folder: there is no run before.", [])
        )
        return page
    report = run.parent.parent
    kept = runs(report)
    changes = _changes(run, kept, summary)
    replace_text(page, render_page(summary, f"{DATA}/", changes, [*_listed(run, kept, "../")]))
    if not kept or kept[-1] != run:
        return page
    base = f"runs/{run.name}/{DATA}/"
    replace_text(report / "index.html", render_page(summary, base, changes, [*_listed(run, kept, "runs/")]))
    return report / "index.html"


def _changes(run: Path, kept: list[Path], summary: Summary) -> RunDifference | str:
    """The difference from the newest run before this one that has the same target, or why there is none."""
    problems = []
    for before in reversed(kept[: kept.index(run)] if run in kept else kept):
        try:
            saved = load_saved(before)
        except ReportError as error:
            problems.append(str(error))
            continue
        if saved.target == summary.target:
            return compare_runs(saved, saved_of(summary))
    if problems:
        return f"Not compared with the run before: {problems[0]}"
    return "No earlier run of this target is kept here to compare with."


def _listed(run: Path, kept: list[Path], folder: str) -> Iterator[tuple[str, str | None, str]]:
    """Name, link and words of the kept runs, newest first."""
    for other in reversed(kept):
        try:
            status = load_status(other)
        except RecordError:
            status = None  # its own page tells what is wrong with it
        words = "" if status is None or other == run else STATUS_WORDS.get(status, "")
        page = f"{folder}{other.name}/index.html"
        yield other.name, None if other == run else page, words
