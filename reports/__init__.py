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
    from reports.annotations import append_step_summary, github_annotations
    from reports.argument_space import REACHED_COUNTS, ArgumentSpace
    from reports.argument_space_text import never_text, space_text
    from reports.difference import RunDifference, compare_runs
    from reports.difference_page import difference_html
    from reports.difference_text import render_difference
    from reports.errors import FolderError, MergeError, PartError, PlainError, RecordError, ReportError, VersionError
    from reports.failure import failure_text
    from reports.folders import (
        latest_run,
        load_status,
        plan_run,
        resolve_run,
        runs,
        save_status,
        save_summary,
    )
    from reports.history import prune_runs
    from reports.junit import junit_property, junit_xml, worst_errors
    from reports.markdown import markdown_text
    from reports.matrix import Cell, Matrix
    from reports.merging import Merged, join_status, merge_runs
    from reports.picture import svg_picture
    from reports.records import Damage, RecordWriter, Run, read_run
    from reports.repros import load_repros
    from reports.saved import Saved, load_saved
    from reports.shape import RED_LEVELS
    from reports.site import save_site
    from reports.summary import Divergence, Evidence, Graph, SlowTest, Summary
    from reports.tally import summarize
    from reports.terminal import render
    from reports.verdict import headline

_HOMES = {
    "reports.annotations": (
        "append_step_summary",
        "github_annotations",
    ),
    "reports.argument_space": ("REACHED_COUNTS", "ArgumentSpace"),
    "reports.argument_space_text": ("never_text", "space_text"),
    "reports.difference": ("RunDifference", "compare_runs"),
    "reports.difference_page": ("difference_html",),
    "reports.difference_text": ("render_difference",),
    "reports.errors": (
        "FolderError",
        "MergeError",
        "PartError",
        "PlainError",
        "RecordError",
        "ReportError",
        "VersionError",
    ),
    "reports.failure": ("failure_text",),
    "reports.folders": (
        "latest_run",
        "load_status",
        "plan_run",
        "resolve_run",
        "runs",
        "save_status",
        "save_summary",
    ),
    "reports.history": ("prune_runs",),
    "reports.junit": (
        "junit_property",
        "junit_xml",
        "worst_errors",
    ),
    "reports.markdown": ("markdown_text",),
    "reports.matrix": (
        "Cell",
        "Matrix",
    ),
    "reports.merging": (
        "Merged",
        "join_status",
        "merge_runs",
    ),
    "reports.picture": ("svg_picture",),
    "reports.records": (
        "Damage",
        "RecordWriter",
        "Run",
        "read_run",
    ),
    "reports.repros": ("load_repros",),
    "reports.saved": (
        "Saved",
        "load_saved",
    ),
    "reports.shape": ("RED_LEVELS",),
    "reports.site": ("save_site",),
    "reports.summary": (
        "Divergence",
        "Evidence",
        "Graph",
        "SlowTest",
        "Summary",
    ),
    "reports.tally": ("summarize",),
    "reports.terminal": ("render",),
    "reports.verdict": ("headline",),
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
    "latest_run",
    "load_repros",
    "load_saved",
    "load_status",
    "markdown_text",
    "merge_runs",
    "never_text",
    "plan_run",
    "prune_runs",
    "read_run",
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
