"""The difference of two runs as one HTML file that needs nothing beside it."""

from __future__ import annotations

import os
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from reports.page.templating import style, template
from reports.past.difference import Change, RunDifference
from reports.past.saved import Saved
from reports.words.literals import literal, literal_lines
from reports.words.quantities import counted

MOST_TESTS = 20
MOST_LINES = 40


class Listing(NamedTuple):
    """A program of one or of both runs: its title, and its lines, each with whether the other run lacks it."""

    title: str
    lines: list[tuple[str, bool]]


def difference_html(difference: RunDifference, page: Path) -> str:
    """Return the page: verdict, how the runs themselves differ, then what is new, changed, gone and not run.

    `page` is the file that it is written to: from there, each fingerprint leads to the page of a run that shows it.
    Text from tests, ops and exceptions is escaped, and what cannot be printed is shown as in the terminal.
    """
    verdict, _, headline = difference.headline.partition(": ")
    links = {run.folder: _link(run.folder / "index.html", page) for run in (difference.before, difference.after)}
    return template("difference.html.j2").render(
        css=style("report.css"),
        tone="bad" if difference.worse else "good",
        verdict=verdict,
        headline=headline,
        found=difference,
        link=links.get,
        listings=lambda change: _listings(change, difference.before, difference.after),
        counted=counted,
        literal=literal,
        literal_lines=literal_lines,
        most_tests=MOST_TESTS,
        most_lines=MOST_LINES,
    )


def _link(target: Path, page: Path) -> str | None:
    """Where a page that may be moved together with the runs finds one of them; None where that has no page."""
    if not target.is_file():
        return None
    return quote(os.path.relpath(target.resolve(), page.resolve().parent))


def _listings(change: Change, before: Saved, after: Saved) -> list[Listing]:
    """The programs of a change: one where a single run has it, or where both runs have the same."""
    sides = ((before, change.before), (after, change.after))
    old, new = (None if finding is None else run.programs.get(finding.fingerprint) for run, finding in sides)
    if old == new:
        return [] if old is None else [_listing("in both runs", old)]
    if old is None:
        return [_listing("after", str(new))]
    if new is None:
        return [_listing("before", old)]
    one, other = (literal_lines(text) for text in (old, new))
    alike = [False] * len(one), [False] * len(other)
    for block in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks():
        for side, start in zip(alike, (block.a, block.b), strict=True):
            side[start : start + block.size] = [True] * block.size
    return [
        Listing(title, [(line, not same) for line, same in zip(lines, side, strict=True)])
        for title, lines, side in zip(("before", "after"), (one, other), alike, strict=True)
    ]


def _listing(title: str, text: str) -> Listing:
    return Listing(title, [(line, False) for line in literal_lines(text)])
