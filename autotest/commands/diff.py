"""Comparing two runs, for `autotest diff`."""

from __future__ import annotations

from pathlib import Path

from autotest.commands.report import USUAL
from autotest.exits import ALIGNED, DIVERGED
from reports import RecordError, compare_runs, difference_html, load_saved, render_difference, resolve_run


def diff_runs(
    before: Path, after: Path, html: Path | None, *, width: int = 80, color: bool = False, encoding: str = "utf-8"
) -> tuple[int, str]:
    """Compare two runs by their summary.json; return the exit status and the text for the terminal.

    Each is a report folder (its latest run), a run folder, the name of a run in the usual report folder, or a folder
    that holds nothing but a summary.json. The status is 1 where something red is new or worse than before, else 0.
    Raises ReportError where they cannot be compared or the page cannot be written.
    """
    difference = compare_runs(load_saved(_run_folder(before)), load_saved(_run_folder(after)))
    if html is not None:
        try:
            html.write_text(difference_html(difference, html), encoding="utf-8")
        except OSError as error:
            raise RecordError(f"{html} cannot be written: {error.strerror}; give --html another file") from error
    text = render_difference(difference, width=width, color=color, encoding=encoding)
    return DIVERGED if difference.worse else ALIGNED, text


def _run_folder(folder: Path) -> Path:
    """A report folder has a copy of a summary too, but its latest run may be a later one that never ended."""
    kept_alone = (folder / "summary.json").is_file() and not (folder / "runs").is_dir()
    return folder if kept_alone else resolve_run(folder, USUAL)
