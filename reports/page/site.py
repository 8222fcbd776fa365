"""The HTML report on disk: a page per run, the data files that it opens, and index.html of the latest run."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from reports.errors import unwritable
from reports.findings.finding import findings
from reports.folders.runs import replace_text
from reports.page.index import detail_data, render_page
from reports.page.templating import script_call, vendored
from reports.past.course import course
from reports.past.difference import RunDifference, compare_runs
from reports.past.history import Past, history, listed
from reports.past.saved import Saved, saved_of
from reports.tallies.summary import Summary

DATA = "report"


def save_site(run_folder: Path, summary: Summary) -> Path:
    """Write the page of a run and its data files; return index.html, that of the report folder for its latest run.

    Pages of other runs stay as they are. Raises RecordError where a file cannot be written.
    """
    data = run_folder / DATA
    run = run_folder.resolve()
    every = history(run.parent.parent) if run.parent.name == "runs" else []
    past = course(every, run, summary)
    try:
        if data.exists():
            shutil.rmtree(data)
        (data / "divergences").mkdir(parents=True)
        for finding in findings(summary.all_divergences):
            text = script_call("autotest.detail", detail_data(finding, summary, past))
            (data / "divergences" / f"{finding.first.id}.js").write_text(text, encoding="ascii")
        timeline = script_call("autotest.timeline", summary.timeline.to_page())
        (data / "timeline.js").write_text(timeline, encoding="ascii")
        coverage = {**summary.coverage.to_json(), "space": summary.space.to_page()}
        # Read when the first divergence with a plot is opened, or with a graph.
        (data / "plots.js").write_text(plots_script(), encoding="utf-8")
        (data / "graphs.js").write_text(graphs_script(), encoding="utf-8")
        (data / "coverage.js").write_text(script_call("autotest.coverage", coverage), encoding="ascii")
    except OSError as error:
        raise unwritable(data, error) from error
    page = run_folder / "index.html"
    if run.parent.name != "runs":
        replace_text(
            page, render_page(summary, f"{DATA}/", "Kept outside a report folder: there is no run before.", [], past)
        )
        return page
    report = run.parent.parent
    changes = _changes(run, every, summary)
    replace_text(page, render_page(summary, f"{DATA}/", changes, [*listed(every, run, "../")], past))
    if not every or every[-1].folder != run:
        return page
    base = f"runs/{run.name}/{DATA}/"
    replace_text(report / "index.html", render_page(summary, base, changes, [*listed(every, run, "runs/")], past))
    return report / "index.html"


def plots_script() -> str:
    """Return the script that hands the library of the plots to the page's own script."""
    return f"{vendored('uplot/uPlot.iife.min.js')}\nautotest.plots(uPlot);\n"


def graphs_script() -> str:
    """Return the script that hands the library which lays out graphs to the page's own script."""
    return f"{vendored('dagre/dagre.min.js')}\nautotest.graphs(dagre);\n"


def _changes(run: Path, every: Sequence[Past], summary: Summary) -> RunDifference | str:
    """The difference from the newest run before this one of the same target and selection, or why there is none.

    What its tests did not come to this time is no difference.
    """
    folders = [past.folder for past in every]
    before = every[: folders.index(run)] if run in folders else every
    for past in reversed(before):
        saved = past.saved
        if isinstance(saved, Saved) and (saved.target, saved.selection) == (summary.target, summary.selection):
            return replace(compare_runs(saved, saved_of(summary)), not_run=())
    problems = [str(past.saved) for past in reversed(before) if not isinstance(past.saved, Saved)]
    if problems:
        return f"Not compared with the run before: {problems[0]}"
    of = "" if summary.selection is None else f" of {summary.selection}"
    return f"No earlier run{of} on this target is kept here to compare with."
