"""Tells what a run found: records on disk, their summary, and its words for the terminal and JUnit.

Plain records go in, one JSON object per line, and plain text comes out. A run folder holds
`records-<worker>.jsonl`; RecordWriter writes them, `summarize(read_run(folder))` counts them, `render`
words the counts and `save_summary` keeps them as summary.json. `merge_runs` joins the runs of several shards.
"""

from reports.errors import FolderError, MergeError, PartError, PlainError, RecordError, ReportError, VersionError
from reports.failure import failure_text
from reports.folders import latest_run, load_status, plan_run, prune_runs, resolve_run, runs, save_status, save_summary
from reports.junit import junit_property
from reports.matrix import Cell, Matrix
from reports.merging import Merged, join_status, merge_runs
from reports.records import Damage, RecordWriter, Run, read_run
from reports.summary import Divergence, Evidence, Graph, SlowTest, Summary
from reports.tally import summarize
from reports.terminal import render
from reports.verdict import headline

__all__ = [
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
    "SlowTest",
    "Summary",
    "VersionError",
    "failure_text",
    "headline",
    "join_status",
    "junit_property",
    "latest_run",
    "load_status",
    "merge_runs",
    "plan_run",
    "prune_runs",
    "read_run",
    "render",
    "resolve_run",
    "runs",
    "save_status",
    "save_summary",
    "summarize",
]
