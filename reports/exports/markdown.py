"""A summary as Markdown, for the page of a build or an issue."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from types import MappingProxyType

from reports.findings.causes import cause_lines
from reports.findings.finding import NOTES, Finding, brief, findings, levels
from reports.findings.lacking import not_checked
from reports.findings.op_map import families
from reports.findings.verdict import broken, frameworks, headline
from reports.folders.repros import VERIFIED
from reports.tallies.inference import HEADING
from reports.tallies.matrix import OUTCOMES
from reports.tallies.segments import SEGMENTS
from reports.tallies.summary import Divergence, Summary
from reports.text.evidence import blame_lines
from reports.words.literals import literal
from reports.words.quantities import counted, duration, share

# GitHub drops the summary of a step whole when it passes 1 MiB, so this stays well below.
MOST_BYTES = 900_000
MOST_CHARACTERS = 300
MOST_TESTS = 3
MOST_NAMES = 20
# Of fewer ops the table of divergences says as much.
LEAST_OPS = 10
SQUARES = MappingProxyType(
    {
        "crashed": "\N{LARGE PURPLE SQUARE}",
        "wrong": "\N{LARGE RED SQUARE}",
        "refuses": "\N{LARGE YELLOW SQUARE}",
        "known": "\N{LARGE BLUE SQUARE}",
        "undecidable": "\N{WHITE LARGE SQUARE}",
        "aligned": "\N{LARGE GREEN SQUARE}",
        "not_checked": "\N{BLACK LARGE SQUARE}",
    }
)
# Parsers give up on long runs: cmark's limit was 80 once.
MOST_BACKTICKS = 20


def markdown_text(summary: Summary, most_bytes: int = MOST_BYTES) -> str:
    """Return verdict, counts, the table of red divergences, and what else makes or mars a run.

    What does not fit into `most_bytes` of UTF-8 is left out, and a sentence tells so; verdict and counts are always
    there. Text from tests, ops and exceptions stands in code spans, where no markup, HTML, mention or link lives.
    """
    red = findings(summary.divergences)
    head = _joined(_head(summary)) + _joined(_causes(red))
    tail = _joined(_map(summary)) + _joined(_tail(summary))
    room = most_bytes - len(head.encode()) - len(_rest(len(red)).encode()) - len(TABLE.encode())
    if len(tail.encode()) > room:
        tail = ""
    room -= len(tail.encode())
    rows = []
    for finding in red:
        row = _row(finding)
        room -= len(row.encode())
        if room < 0:
            break
        rows.append(row)
    table = TABLE + "".join(rows) if rows else ""
    return head + table + (_rest(len(red) - len(rows)) if len(rows) < len(red) else "") + tail


def code(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return the first line of `text` as code spans, also safe in a table's cell.

    A bar would end the cell, and no escape for it reads the same everywhere: it stands between spans, as an entity.
    """
    return "&#124;".join(_span(part) for part in literal(brief(text, most)).split("|"))


TABLE = "\n| divergence | cases | tests | message | replay |\n|---|--:|---|---|---|\n"


def _span(text: str) -> str:
    if not text.strip():
        return text
    longest = max(map(len, re.findall("`+", text)), default=0)
    if longest > MOST_BACKTICKS:
        text, longest = text.replace("`", "\\x60"), 0
    fence = "`" * (longest + 1)
    # A parser takes one blank from each end, and a backtick at an end would join the fence.
    pad = " " if text[0] in " `" or text[-1] in " `" else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _joined(lines: Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _head(summary: Summary) -> Iterator[str]:
    looks = broken(summary)
    if looks is not None:
        lead, _, message = looks.partition(" is ")
        yield f"**{lead}{' is ' if message else ''}**{code(message)}"
        yield ""
    words, sides, rest = headline(summary).partition(frameworks(summary))
    yield f"### {words}{code(sides) if sides else ''}{rest}"
    yield ""
    yield "| | count | |"
    yield "|---|--:|---|"
    seed = "" if summary.seed is None else f", seed {summary.seed}"
    seed += "" if summary.inputs is None else f", {summary.inputs} inputs"
    yield f"| tests | {summary.tests:,} | in {duration(summary.seconds)}{seed} |"
    yield f"| cases | {summary.cases:,} | each in one of these: |"
    for name in SEGMENTS:
        if summary.segments.cases.get(name):
            yield f"| {name} | {summary.segments.cases[name]:,} | {summary.segments.words(name)} |"
    yield f"| rejected draws | {summary.rejected:,} | |"
    for doubts in summary.doubts:
        if doubts.excessive:
            yield f"| | | {code(doubts.op)}{str(doubts).removeprefix(doubts.op)} |"
    for sentence in summary.loose:
        yield f"| loose tolerance | | {code(sentence)} |"
    graph = summary.graph
    if graph.asked:
        facts = f"{graph.verified:,} of {counted(graph.asked, 'case')}"
        yield f"| graph verified | {share(graph.verified, graph.asked)} | {facts} |"
    for captures in summary.captures:
        yield f"| captured | {captures.share} | {captures.words} |"
    if summary.configurations.asked:
        yield f"| configurations | {summary.configurations.share} | {summary.configurations.words} |"
    if summary.lowered.asked:
        yield f"| lowered | {summary.lowered.share} | {summary.lowered.words} |"
    if unseen := not_checked(summary.lacks):
        yield f"| not checked | | {unseen} |"
    counts = levels(summary.all_divergences)
    yield f"| divergences | {sum(counts.values()):,} | each with a fingerprint of its own |"
    for level, count in counts.items():
        if count or level == "new":
            yield f"| {level} | {count:,} | {NOTES.get(level, 'the run is red' if count else '')} |"


def _causes(red: Sequence[Finding]) -> Iterator[str]:
    """What divergences of several ops share."""
    lines = cause_lines(red)
    if lines:
        yield ""
        yield "**Shared by several ops: a guess at the cause**"
        yield ""
        for line in lines:
            yield f"- {code(line)}"


def _map(summary: Summary) -> Iterator[str]:
    """The map of all ops: a line for each family, a square for each op, in the colour of its worst outcome."""
    matrix = summary.matrix
    if len(matrix.cells) < LEAST_OPS:
        return
    worst = {op: matrix.worst(op) for op in matrix.cells}
    there = [name for name in OUTCOMES if name in worst.values()]
    legend = ", ".join(f"{SQUARES[name]} {name.replace('_', ' ')}" for name in there)
    yield ""
    yield f"**All ops**, each by its worst outcome: {legend}"
    yield ""
    yield "| family | ops |"
    yield "|---|---|"
    for name, ops in families(matrix).items():
        squares = "".join(SQUARES[worst[op]] for op in ops)
        yield f"| {code(name)} | {' '.join(squares[at : at + 10] for at in range(0, len(squares), 10))} |"


def _row(finding: Finding) -> str:
    tests = [code(test) for test in finding.tests[:MOST_TESTS]]
    if len(finding.tests) > MOST_TESTS:
        tests.append(f"and {len(finding.tests) - MOST_TESTS:,} more")
    first = finding.first
    assert isinstance(first, Divergence), "it is of a summary's own rows"
    cells = (
        code(finding.fingerprint),
        f"{finding.cases:,}",
        "<br>".join(tests),
        "<br>".join([code(first.message), *map(code, blame_lines(None, first.stages))]),
        code(first.replay),
    )
    return f"| {' | '.join(cells)} |\n"


def _scripts(outcomes: Counter[str]) -> str:
    verified = outcomes.pop(VERIFIED, 0)
    parts = [f"{verified:,} verified"] if verified else []
    if outcomes:
        parts.append(f"{sum(outcomes.values()):,} not verified")
    return ", ".join(parts)


def _rest(count: int) -> str:
    return f"\n{counted(count, 'more divergence')} did not fit here, see summary.json of the run.\n"


def _tail(summary: Summary) -> Iterator[str]:
    outcomes = Counter(repro.words for repro in summary.repros.values() if repro.folder is not None)
    if outcomes:
        yield ""
        yield f"Scripts and issues to copy lie in `repros/` of the run: {_scripts(outcomes)}."
    for title, names in (
        ("Interrupted while running", summary.running),
        ("Tests that did not end", () if summary.running else summary.open_tests),
        ("Faults of the harness", summary.faults),
        ("Damaged records", summary.damage),
        (summary.failed_title, summary.failures),
    ):
        if not names:
            continue
        yield ""
        yield f"**{title}**"
        yield ""
        for name in names[:MOST_NAMES]:
            yield f"- {code(name)}"
        if len(names) > MOST_NAMES:
            yield f"- and {len(names) - MOST_NAMES:,} more, see summary.json of the run"
    yield from _disagreements(summary)
    if summary.command:
        yield ""
        yield f"Run again: {code(summary.command)}"


def _disagreements(summary: Summary) -> Iterator[str]:
    """Where the reference disagrees with itself, each with its program, indented: no text ends such a block."""
    found = summary.inference.disagreements
    if found:
        yield ""
        yield f"**{HEADING}**"
    for row in found[:MOST_NAMES]:
        yield ""
        yield code(row.title)
        yield ""
        for line in row.lines:
            yield f"    {literal(line)}"
    if len(found) > MOST_NAMES:
        yield ""
        yield f"and {len(found) - MOST_NAMES:,} more, see summary.json of the run"
