"""The terminal summary: what a person reads when a run ends."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from pathlib import Path

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from reports.findings.causes import cause_lines
from reports.findings.finding import NOTES, findings, levels
from reports.findings.lacking import lacked, not_checked
from reports.findings.verdict import broken, headline
from reports.records.kinds import REFUSALS, severity
from reports.tallies.inference import HEADING
from reports.tallies.segments import SEGMENTS
from reports.tallies.summary import Divergence, Evidence, Summary
from reports.text.argument_space import pairs_words, spared_words
from reports.text.evidence import blame_lines, program_parts, worst_table
from reports.text.grid import matrix_table
from reports.words.literals import literal, literal_lines, literal_path
from reports.words.paper import Paper
from reports.words.quantities import counted, duration, share

MOST_GROUPS = 10
MOST_NAMES = 10
MOST_REASONS = 5
MOST_MESSAGE_LINES = 12
MOST_OPS = 36
MOST_DISAGREEMENTS = 5
SLOWEST = 5
INDENT = 2
#: The segments that are told also where they have no case.
ALWAYS = ("aligned", "new", "skipped")
STYLES = {"aligned": "green", "undecidable": "yellow", "skipped": "yellow", "new": "red"}


def render(
    summary: Summary,
    width: int = 80,
    color: bool = False,
    encoding: str = "utf-8",
    page: Path | None = None,
    told: Container[str] = (),
) -> str:
    """Return the summary in lines of at most `width` columns (at least 40).

    The fingerprints in `told` have been shown with all that is known of them already, and are named here alone.
    Only the report's path may be longer, since it is there to be copied: that of its `page`, or the run folder.

    Text from tests, ops and exceptions is shown literally. Its characters outside `encoding` become
    escapes, and everything else is ASCII.
    """
    paper = Paper(width, color)
    _Page(summary, paper.console, encoding, told).print(page or summary.folder)
    return paper.text()


class _Page:
    """One rendering of one summary."""

    def __init__(self, summary: Summary, console: Console, encoding: str, told: Container[str]) -> None:
        self._told = told
        self._summary = summary
        self._console = console
        self._encoding = encoding

    def print(self, report: Path) -> None:
        """Print each part that has something to say, and where the report lies."""
        summary = self._summary
        looks = broken(summary)
        if looks is not None:
            self._say(self._text(looks, "bold red"))
            self._say(Text())
        words = headline(summary)
        style = {"DIVERGENT": "bold red", "FAILED": "bold red", "aligned": "bold green"}.get(
            words.split(":")[0], "bold yellow"
        )
        self._say(Text(self._literal(words), style=style))
        self._say(Text())
        self._counts()
        self._names("Interrupted while running", summary.running)
        if not summary.running:
            self._names("Tests that did not end", summary.open_tests)
        self._names("Faults of the harness", summary.faults)
        self._names("Damaged records", summary.damage)
        self._names("Remembered cases", summary.forgotten)
        self._names(summary.failed_title, summary.failures)
        self._names("Loose tolerances", summary.loose)
        self._inference()
        self._causes()
        self._divergences()
        self._matrix()
        self._slowest()
        self._say(Text())
        # Never wrapped: a path is there to be copied.
        path = Text(f"report: {literal_path(report, self._encoding)}")
        self._console.print(path, soft_wrap=True)

    def _say(self, what: RenderableType, indent: int = 0) -> None:
        self._console.print(Padding(what, (0, 0, 0, indent)) if indent else what)

    def _literal(self, text: str) -> str:
        return literal(text, self._encoding)

    def _text(self, text: str, style: str = "") -> Text:
        return Text(self._literal(text), style=style, overflow="fold")

    def _heading(self, words: str) -> None:
        self._say(Text())
        self._say(Text(words, style="bold", overflow="fold"))

    def _counts(self) -> None:
        summary = self._summary
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
        table.add_column(no_wrap=True)
        table.add_column(justify="right", no_wrap=True)
        table.add_column(overflow="fold")
        seed = "" if summary.seed is None else f", seed {summary.seed}"
        seed += "" if summary.inputs is None else f", {summary.inputs} inputs"
        table.add_row("tests", f"{summary.tests:,}", f"in {duration(summary.seconds)}{seed}")
        table.add_row("cases", f"{summary.cases:,}", "")
        for name in SEGMENTS:
            count = summary.segments.cases.get(name, 0)
            if count or name in ALWAYS:
                self._count(table, f"  {name}", count, STYLES.get(name, ""), self._of_segment(name))
        self._count(table, "rejected draws", summary.rejected, "yellow", self._reasons(summary.rejected_reasons))
        graph = summary.graph
        if graph.asked:
            backward = f"{graph.backward_verified:,} backward too"
            facts = Text(f"{graph.verified:,} of {counted(graph.asked, 'case')}, {backward}")
            reasons = self._reasons(graph.skipped)
            table.add_row(
                "graph verified",
                share(graph.verified, graph.asked),
                Text("\n").join([facts, reasons]) if reasons else facts,
            )
        elif graph.off:
            table.add_row("graph verified", "off", "")
        for captures in summary.captures:
            further = captures.besides(graph.skipped)
            lines = [Text(captures.words), *([self._reasons(further)] if further else [])]
            table.add_row("captured", captures.share, Text("\n").join(lines))
        configurations = summary.configurations
        if configurations.asked:
            lines = [Text(configurations.words, overflow="fold")]
            lines += [self._reasons(configurations.reasons)] if configurations.reasons else []
            table.add_row("configurations", configurations.share, Text("\n").join(lines))
        lowered = summary.lowered
        if lowered.asked:
            lines = [Text(lowered.words, overflow="fold")]
            lines += [self._reasons(lowered.reasons)] if lowered.reasons else []
            table.add_row("lowered", lowered.share, Text("\n").join(lines))
        laid_out = summary.space.laid_out
        if laid_out.cases or laid_out.spared:
            words = filter(None, ("cases", spared_words(laid_out), pairs_words(laid_out)))
            table.add_row("laid out", f"{laid_out.cases:,}", "; ".join(words))
        if summary.random:
            table.add_row("random", f"{summary.random:,}", "cases, compared without random values")
        if unseen := not_checked(summary.lacks):
            table.add_row("not checked", "", f"{unseen}: the target has none that could be")
        if summary.confirmed:
            noun = "case now aligns" if summary.confirmed == 1 else "cases now align"
            table.add_row("confirmed", f"{summary.confirmed:,}", f"remembered {noun}")
        self._levels(table)
        self._say(table)

    def _of_segment(self, name: str) -> Text | None:
        """What stands beside the cases of a segment: how they diverge, or the reasons why they were not decided."""
        if name == "undecidable":
            return self._doubts()
        if name == "skipped":
            return self._reasons(self._summary.skipped_reasons)
        return Text(self._summary.segments.words(name), overflow="fold")

    def _levels(self, table: Table) -> None:
        """The divergences by level, a fingerprint each."""
        summary = self._summary
        counts = levels(summary.all_divergences)
        if not any(counts.values()):
            return
        table.add_row("divergences", f"{sum(counts.values()):,}", "each with a fingerprint of its own")
        for level, count in counts.items():
            if count or level == "new":
                note = Text(NOTES.get(level, ""), overflow="fold")
                self._count(table, f"  {level}", count, STYLES.get(level, ""), note)

    def _count(self, table: Table, name: str, count: int, style: str, facts: Text | None = None) -> None:
        table.add_row(name, Text(f"{count:,}", style=style if count else ""), facts or "")

    def _reasons(self, reasons: Mapping[str, int]) -> Text:
        lines = [f"{count:,} x {self._literal(reason)}" for reason, count in reasons.items()]
        if len(lines) > MOST_REASONS:
            rest = len(lines) - MOST_REASONS
            lines[MOST_REASONS:] = [f"and {counted(rest, 'more reason')}, see summary.json"]
        return Text("\n".join(lines), overflow="fold")

    def _doubts(self) -> Text:
        """Of the ops that are in doubt too often, each with its reasons; of all others, the reasons."""
        excessive = [str(doubts) for doubts in self._summary.doubts if doubts.excessive]
        lines = [f"{count:,} x {reason}" for reason, count in self._summary.undecidable_reasons.items()]
        if len(excessive) > MOST_REASONS:
            excessive[MOST_REASONS:] = [f"and {counted(len(excessive) - MOST_REASONS, 'more op')}, see summary.json"]
        return Text("\n".join(self._literal(line) for line in (*lines, *excessive)), overflow="fold")

    def _names(self, title: str, names: Sequence[str]) -> None:
        if not names:
            return
        self._heading(title)
        for name in names[:MOST_NAMES]:
            for line in literal_lines(name, self._encoding)[:MOST_MESSAGE_LINES]:
                self._say(Text(line, overflow="fold"), INDENT)
        if len(names) > MOST_NAMES:
            self._say(Text(f"and {len(names) - MOST_NAMES:,} more, see summary.json"), INDENT)

    def _inference(self) -> None:
        """Where the reference disagrees with itself, which is no word on the target."""
        found = self._summary.inference.disagreements
        if not found:
            return
        self._heading(HEADING)
        for row in found[:MOST_DISAGREEMENTS]:
            self._say(self._text(row.title), INDENT)
            for line in row.lines:
                self._say(self._text(line), 2 * INDENT)
        if len(found) > MOST_DISAGREEMENTS:
            self._say(Text(f"and {len(found) - MOST_DISAGREEMENTS:,} more, see the report"), INDENT)

    def _causes(self) -> None:
        """What divergences of several ops share."""
        lines = cause_lines(findings(self._summary.divergences))
        if lines:
            self._heading("Shared by several ops: a guess at the cause")
            for line in lines:
                self._say(self._text(line), INDENT)

    def _divergences(self) -> None:
        groups: dict[str, list[Divergence]] = {}
        for row in self._summary.divergences:
            groups.setdefault(row.fingerprint, []).append(row)
        ranked = sorted(groups.values(), key=lambda rows: (severity(rows[0].kind), -len(rows), rows[0].fingerprint))
        for rows in ranked[:MOST_GROUPS]:
            self._group(rows)
        if len(ranked) > MOST_GROUPS:
            self._heading(f"and {counted(len(ranked) - MOST_GROUPS, 'more fingerprint')}, see summary.json")
        if ranked:
            self._say(Text())
            self._say(Text('Accept one that is known: autotest accept ID --reason "why"', overflow="fold"))

    def _group(self, rows: list[Divergence]) -> None:
        first = rows[0]
        cases = counted(sum(row.count for row in rows), "case")
        self._say(Text())
        title = self._text(first.fingerprint, "bold red")
        title.append(f"  {cases} of {counted(len(rows), 'test')}", style="not bold default")
        self._say(title)
        self._say(self._text(first.test, "dim"), INDENT)
        if first.fingerprint not in self._told:
            self._what(first)
        self._say(self._text(first.replay, "bold"), INDENT)
        repro = self._summary.repros.get(first.id)
        if repro is not None:
            # Never wrapped: a path is there to be copied.
            self._console.print(Text(f"{' ' * INDENT}{self._literal(repro.sentence)}"), soft_wrap=True)

    def _what(self, first: Divergence) -> None:
        """What diverges, which side is wrong, the program and its worst elements."""
        lines = literal_lines(first.message, self._encoding)
        for line in lines[:MOST_MESSAGE_LINES]:
            self._say(Text(line, overflow="fold"), INDENT)
        if len(lines) > MOST_MESSAGE_LINES:
            more = counted(len(lines) - MOST_MESSAGE_LINES, "more line")
            self._say(Text(f"and {more}, see summary.json"), INDENT)
        if first.reason is not None:
            self._say(self._text(first.reason), INDENT)
        # A damaged record may have taken its evidence along.
        evidence = self._summary.evidence.get(first.fingerprint, Evidence())
        for line in blame_lines(evidence.blame, first.stages, evidence.losses):
            self._say(self._text(line), INDENT)
        for part in program_parts(evidence.to_json(), self._encoding):
            self._say(part, INDENT)
        if evidence.worst:
            self._say(Text())
            self._say(worst_table(evidence.worst, first.target, self._encoding), INDENT)
        self._say(Text())

    def _matrix(self) -> None:
        summary, matrix = self._summary, self._summary.matrix
        new = {row.op for row in summary.divergences}
        # An op without cells is of a case whose every phase is unknown, such as one that was never compared.
        listed = [op for op in matrix.ranked if op in new]
        lines = [f"{counted(matrix.aligned, 'op')} aligned in every phase checked"] if matrix.cells else []
        known = {row.op for row in summary.known}
        lines += [f"{counted(len(known), 'op')} known to diverge"] if known else []
        lines += lacked(*(len(summary.lacking(kind)) for kind in REFUSALS))
        if matrix.unchecked:
            lines.append(f"{counted(matrix.unchecked, 'op')} checked in no phase")
        if listed:
            self._heading("Ops by phase: the worst outcome and its share of the cases; -: none checked")
            self._say(matrix_table(matrix, listed[:MOST_OPS], self._encoding), INDENT)
            if len(listed) > MOST_OPS:
                self._say(Text(f"and {len(listed) - MOST_OPS:,} more, see the report"), INDENT)
        elif lines:
            self._say(Text())
        for line in lines:
            self._say(Text(line, overflow="fold"), INDENT if listed else 0)

    def _slowest(self) -> None:
        slowest = self._summary.slowest[:SLOWEST]
        if not slowest:
            return
        self._heading("Slowest tests")
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
        table.add_column(justify="right", no_wrap=True)
        table.add_column(overflow="fold")
        for slow in slowest:
            table.add_row(duration(slow.seconds), self._text(slow.test))
        self._say(table, INDENT)
