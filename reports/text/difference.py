"""The difference of two runs as a page of text for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from reports.past.difference import Change, RunDifference
from reports.words.literals import literal, literal_lines
from reports.words.paper import Paper
from reports.words.quantities import counted

MOST_CHANGES = 20
MOST_NAMES = 10
MOST_MESSAGE_LINES = 3
INDENT = 2


def render_difference(difference: RunDifference, width: int = 80, color: bool = False, encoding: str = "utf-8") -> str:
    """Return the difference in lines of at most `width` columns (at least 40).

    Text from tests, ops and exceptions is shown literally, as in the summary of a run.
    """
    paper = Paper(width, color)
    _Page(difference, paper.console, encoding).print()
    return paper.text()


class _Page:
    """One rendering of one difference."""

    def __init__(self, difference: RunDifference, console: Console, encoding: str) -> None:
        self._difference = difference
        self._console = console
        self._encoding = encoding

    def print(self) -> None:
        """Print each part that has something to say."""
        difference = self._difference
        self._say(self._text(difference.headline, "bold red" if difference.worse else "bold green"))
        self._say(Text())
        runs = Table.grid(padding=(0, 2, 0, 0))
        runs.add_column(no_wrap=True)
        runs.add_column(overflow="fold")
        runs.add_row("before", self._text(str(difference.before.folder)))
        runs.add_row("after", self._text(str(difference.after.folder)))
        self._say(runs)
        self._facts()
        self._changes("New", difference.new, "bold red")
        self._changes("Changed", difference.changed, "bold yellow")
        self._changes("Gone", difference.gone, "bold green")
        self._not_run()

    def _say(self, what: RenderableType, indent: int = 0) -> None:
        self._console.print(Padding(what, (0, 0, 0, indent)) if indent else what)

    def _text(self, text: str, style: str = "") -> Text:
        return Text(literal(text, self._encoding), style=style, overflow="fold")

    def _heading(self, words: str) -> None:
        self._say(Text())
        self._say(Text(words, style="bold", overflow="fold"))

    def _facts(self) -> None:
        if not self._difference.facts:
            return
        self._heading("The runs differ")
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
        for name in ("", "before", "after"):
            table.add_column(name, overflow="fold")
        for fact in self._difference.facts:
            table.add_row(*(self._text(cell) for cell in fact))
        self._say(table, INDENT)

    def _changes(self, title: str, changes: Sequence[Change], style: str) -> None:
        if not changes:
            return
        self._heading(f"{title}: {len(changes):,}")
        for change in changes[:MOST_CHANGES]:
            self._change(change, style)
        if len(changes) > MOST_CHANGES:
            self._say(Text(f"and {len(changes) - MOST_CHANGES:,} more, see --html"), INDENT)

    def _change(self, change: Change, style: str) -> None:
        finding = change.finding
        title = self._text(finding.fingerprint, style)
        was = "" if change.after is not None else "was "
        title.append(f"  {was}{literal(finding.words, self._encoding)}", style="not bold default")
        self._say(title, INDENT)
        for words in change.words:
            self._say(self._text(words), 2 * INDENT)
        if change.before is not None:
            return
        self._say(self._text(finding.first.test, "dim"), 2 * INDENT)
        lines = literal_lines(finding.first.message, self._encoding)
        for line in lines[:MOST_MESSAGE_LINES]:
            self._say(Text(line, overflow="fold"), 2 * INDENT)
        if len(lines) > MOST_MESSAGE_LINES:
            more = counted(len(lines) - MOST_MESSAGE_LINES, "more line")
            self._say(Text(f"and {more}, see summary.json"), 2 * INDENT)
        self._say(self._text(finding.first.replay, "bold"), 2 * INDENT)

    def _not_run(self) -> None:
        names = [change.finding.fingerprint for change in self._difference.not_run]
        if not names:
            return
        self._heading(f"Not run: {len(names):,}, whose tests did not run after, or failed without a divergence")
        for name in names[:MOST_NAMES]:
            self._say(self._text(name), INDENT)
        if len(names) > MOST_NAMES:
            self._say(Text(f"and {len(names) - MOST_NAMES:,} more, see --html"), INDENT)
