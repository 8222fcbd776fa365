"""The runs of a report folder: what each of them ran, which are kept, and how they are listed."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import NamedTuple

from reports.errors import PartError, RecordError, ReportError
from reports.findings.finding import levels
from reports.folders.repros import FOLDER as REPROS
from reports.folders.runs import STATUS_NAME, load_status, runs, started
from reports.past.saved import Saved, load_saved

#: So many of the newest runs are kept, whatever they ran, ...
KEPT_RUNS = 10
#: ... and of each of so many selections, those with the most tests, ...
KEPT_SELECTIONS = 10
#: ... so many.
KEPT_OF_SELECTION = 3
#: What is told of a run may be looked for this long.
FRESH = timedelta(days=1)
STATUS_WORDS = {0: "aligned", 1: "red", 2: "not finished", 3: "fault of the harness", 5: "no test"}
_ID = re.compile(r"[0-9a-f]{8}")


@dataclass(frozen=True)
class Past:
    """A run of a report folder. `saved` is what its summary says, or why there is none: it never ended, or its
    summary.json cannot be read.
    """

    folder: Path
    saved: Saved | ReportError

    @property
    def ended(self) -> bool:
        """Whether it has an exit status."""
        return (self.folder / STATUS_NAME).exists()

    def age(self, now: datetime) -> timedelta:
        """The time since it began."""
        return now - started(self.folder)

    def ids(self) -> frozenset[str]:
        """The divergences that can be run again from it: those with a script or with a stored program."""
        names = {path.name for path in (self.folder / REPROS).glob("*")}
        names |= {path.name.partition("-")[0] for path in (self.folder / "programs").glob("*-*.json")}
        return frozenset(name for name in names if _ID.fullmatch(name))


class Listed(NamedTuple):
    """A run as the page lists it: name and link (None: this page), how it ended, what it ran, and its tests, new and
    known divergences, cases and seconds as far as they are known. `alike` is one of the same target and selection.
    """

    name: str
    href: str | None
    ended: str
    ran: str
    tests: int | None
    new: int | None
    known: int | None = None
    cases: int | None = None
    seconds: float | None = None
    alike: bool = False


def history(report: Path) -> list[Past]:
    """The runs of a report folder, oldest first."""
    return [Past(run, _load(run)) for run in runs(report)]


def _load(run: Path) -> Saved | ReportError:
    try:
        return load_saved(run)
    except ReportError as error:
        return error


def prune_runs(report: Path, keep: int = KEPT_RUNS, now: datetime | None = None) -> list[Path]:
    """Remove the runs of a report folder that nobody is likely to look for, and return those removed.

    Kept are the newest `keep`; the newest three of each of the ten selections that ran the most tests, so that runs of
    a whole suite outlive those of a few tests; and of the last day what has not ended yet, and the newest run that
    holds the script or the program of a divergence. Raises RecordError naming a run which cannot be removed; one that
    another process removed meanwhile is no error.
    """
    if keep < 1:
        raise PartError(f"keep={keep!r}, but should be at least 1 [prune_runs]")
    if len(runs(report)) <= keep:
        return []
    every = history(report)
    kept = _kept(every, keep, now or datetime.now(timezone.utc))
    old = [past.folder for past in every if past.folder not in kept]
    for run in old:
        try:
            shutil.rmtree(run)
        except OSError as error:
            if run.exists():
                raise RecordError(f"{run} cannot be removed: {error.strerror}; remove it by hand") from error
    return old


def _kept(every: Sequence[Past], keep: int, now: datetime) -> set[Path]:
    kept = {past.folder for past in every[-keep:]}
    groups: dict[tuple[str | None, str | None], list[tuple[Past, int]]] = {}
    for past in reversed(every):
        if isinstance(past.saved, Saved):
            selected = past.saved.target, past.saved.selection
            groups.setdefault(selected, []).append((past, len(past.saved.ran)))
    whole = sorted(groups.values(), key=lambda group: max(tests for _, tests in group), reverse=True)
    for group in whole[:KEPT_SELECTIONS]:
        kept.update(past.folder for past, _ in group[:KEPT_OF_SELECTION])
    held = {id_ for past in every if past.folder in kept for id_ in past.ids()}
    for past in reversed(every):
        if past.folder in kept or past.age(now) > FRESH:
            continue
        ids = past.ids()
        if not past.ended or ids - held:
            kept.add(past.folder)
            held |= ids
    return kept


def listed(every: Sequence[Past], run: Path, folder: str) -> Iterator[Listed]:
    """The runs as the page of `run` lists them, newest first; `folder` is the way to the others' folders."""
    asked = next((past.saved for past in every if past.folder == run), None)
    for past in reversed(every):
        name, here = past.folder.name, past.folder == run
        ran, tests, new = "", None, None
        known, cases, seconds, alike = None, None, None, False
        if isinstance(past.saved, Saved):
            counts = levels(past.saved.rows)
            new, known = counts["new"], counts["known"]
            cases, seconds = past.saved.cases, past.saved.seconds
            alike = isinstance(asked, Saved) and _selected(asked) == _selected(past.saved)
            ran = " on ".join(text for text in (past.saved.selection, past.saved.target) if text)
            tests = len(past.saved.ran)
        href = None if here else f"{folder}{name}/index.html"
        yield Listed(name, href, "" if here else _ended(past), ran, tests, new, known, cases, seconds, alike)


def _selected(saved: Saved) -> tuple[str | None, str | None]:
    return saved.target, saved.selection


def _ended(past: Past) -> str:
    """How a run ended, in words."""
    try:
        status = load_status(past.folder)
    except RecordError:
        return ""  # its own page tells what is wrong with it
    return "not ended" if status is None else STATUS_WORDS.get(status, "")


__all__ = ["Listed", "Past", "history", "listed", "prune_runs"]
