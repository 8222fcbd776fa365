"""Tells what a run found: records on disk, their summary, and its words for people and for other programs.

Plain records go in, one JSON object per line, and text comes out. A run folder holds `records-<worker>.jsonl`;
RecordWriter writes them, `summarize(read_run(folder))` counts them. `render` words the counts for a terminal,
`save_site` draws the HTML report, `markdown_text` and `junit_xml` are for other programs, `save_summary` keeps
summary.json. `merge_runs` joins the runs of several shards, `compare_runs` holds two runs against each other.

Names are imported when they are first used: writing records needs none of the libraries that draw.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reports.errors import FolderError, MergeError, PartError, PlainError, RecordError, ReportError, VersionError
    from reports.exports.annotations import append_step_summary, github_annotations
    from reports.exports.junit import junit_property, junit_xml, worst_errors
    from reports.exports.markdown import markdown_text
    from reports.findings.verdict import headline
    from reports.folders.repros import load_repros
    from reports.folders.runs import (
        latest_run,
        load_status,
        plan_run,
        resolve_run,
        runs,
        save_status,
    )
    from reports.page.difference import difference_html
    from reports.page.site import save_site
    from reports.past.difference import RunDifference, compare_runs
    from reports.past.history import prune_runs
    from reports.past.merging import Merged, join_status, merge_runs
    from reports.past.saved import Saved, load_saved, save_summary
    from reports.pictures.png import png_picture
    from reports.pictures.svg import svg_picture
    from reports.records.run import Damage, Run, last_ahead, last_begun, read_run, records_file
    from reports.records.shape import RED_LEVELS
    from reports.records.writer import RecordWriter
    from reports.tallies.argument_space import REACHED_COUNTS, ArgumentSpace
    from reports.tallies.matrix import Cell, Matrix
    from reports.tallies.summary import Divergence, Evidence, Graph, SlowTest, Summary
    from reports.tallies.tally import summarize
    from reports.text.argument_space import never_text, space_text
    from reports.text.difference import render_difference
    from reports.text.failure import failure_text, reading_width
    from reports.text.terminal import render

_HOMES = {
    "reports.exports.annotations": (
        "append_step_summary",
        "github_annotations",
    ),
    "reports.tallies.argument_space": ("REACHED_COUNTS", "ArgumentSpace"),
    "reports.text.argument_space": ("never_text", "space_text"),
    "reports.past.difference": ("RunDifference", "compare_runs"),
    "reports.page.difference": ("difference_html",),
    "reports.text.difference": ("render_difference",),
    "reports.errors": (
        "FolderError",
        "MergeError",
        "PartError",
        "PlainError",
        "RecordError",
        "ReportError",
        "VersionError",
    ),
    "reports.text.failure": ("failure_text", "reading_width"),
    "reports.folders.runs": (
        "latest_run",
        "load_status",
        "plan_run",
        "resolve_run",
        "runs",
        "save_status",
    ),
    "reports.past.history": ("prune_runs",),
    "reports.exports.junit": (
        "junit_property",
        "junit_xml",
        "worst_errors",
    ),
    "reports.exports.markdown": ("markdown_text",),
    "reports.tallies.matrix": (
        "Cell",
        "Matrix",
    ),
    "reports.past.merging": (
        "Merged",
        "join_status",
        "merge_runs",
    ),
    "reports.pictures.png": ("png_picture",),
    "reports.pictures.svg": ("svg_picture",),
    "reports.records.run": (
        "Damage",
        "Run",
        "last_ahead",
        "last_begun",
        "read_run",
        "records_file",
    ),
    "reports.records.writer": ("RecordWriter",),
    "reports.folders.repros": ("load_repros",),
    "reports.past.saved": (
        "Saved",
        "load_saved",
        "save_summary",
    ),
    "reports.records.shape": ("RED_LEVELS",),
    "reports.page.site": ("save_site",),
    "reports.tallies.summary": (
        "Divergence",
        "Evidence",
        "Graph",
        "SlowTest",
        "Summary",
    ),
    "reports.tallies.tally": ("summarize",),
    "reports.text.terminal": ("render",),
    "reports.findings.verdict": ("headline",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "REACHED_COUNTS",
    "RED_LEVELS",
    "ArgumentSpace",
    "Cell",
    "Damage",
    "Divergence",
    "Evidence",
    "FolderError",
    "Graph",
    "Matrix",
    "MergeError",
    "Merged",
    "PartError",
    "PlainError",
    "RecordError",
    "RecordWriter",
    "ReportError",
    "Run",
    "RunDifference",
    "Saved",
    "SlowTest",
    "Summary",
    "VersionError",
    "append_step_summary",
    "compare_runs",
    "difference_html",
    "failure_text",
    "github_annotations",
    "headline",
    "join_status",
    "junit_property",
    "junit_xml",
    "last_ahead",
    "last_begun",
    "latest_run",
    "load_repros",
    "load_saved",
    "load_status",
    "markdown_text",
    "merge_runs",
    "never_text",
    "plan_run",
    "png_picture",
    "prune_runs",
    "read_run",
    "reading_width",
    "records_file",
    "render",
    "render_difference",
    "resolve_run",
    "runs",
    "save_site",
    "save_status",
    "save_summary",
    "space_text",
    "summarize",
    "svg_picture",
    "worst_errors",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'reports' has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})
