"""The evidence of a divergence as tables: its program and its worst elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from reports.tallies.captures import executor_name
from reports.words.literals import literal, literal_lines
from reports.words.quantities import counted

MOST_LINES = 40
LINES_BEFORE = 25
MOST_ELEMENTS = 5


def program_table(program: str, blamed_line: int | None, encoding: str = "utf-8") -> Table:
    """Return the program with its first diverging line, counted from 1, marked by `>`.

    A program of more than 40 lines is cut to those around the marked one, and says so.
    """
    lines = literal_lines(program.rstrip("\n"), encoding)
    start = 0
    if blamed_line is not None and len(lines) > MOST_LINES:
        start = max(0, min(blamed_line - LINES_BEFORE, len(lines) - MOST_LINES))
    excerpt = lines[start : start + MOST_LINES]
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True, width=1)
    table.add_column(overflow="fold")
    if start:
        table.add_row("", f"... {start} lines above")
    for number, line in enumerate(excerpt, start + 1):
        blamed = number == blamed_line
        style = "bold red" if blamed else ""
        table.add_row(Text(">" if blamed else "", style=style), Text(line, style=style))
    below = len(lines) - start - len(excerpt)
    if below:
        table.add_row("", f"... {below} lines below")
    return table


def worst_table(worst: Sequence[Mapping[str, object]], target: str, encoding: str = "utf-8") -> Table:
    """Return the worst elements, at most five: where they are, each side's value, and how far these are apart."""
    rows = worst[:MOST_ELEMENTS]
    sides = [side for side in ("eager", "graph") if any(element[side] is not None for element in rows)]
    name = literal(target, encoding)
    table = Table(box=None, padding=(0, 3, 0, 0), pad_edge=False, header_style="bold")
    table.add_column("index", overflow="fold")
    heads = [name] if sides == ["eager"] else [f"{name} {side}" for side in sides]
    for head in ("reference", *heads, "absolute", "relative"):
        table.add_column(Text(head), justify="right", overflow="fold")
    for element in rows:
        cells = (
            _index(element["index"]),
            *_digits([element[side] for side in ("reference", *sides)]),
            _number(element["absolute"], 3),
            _number(element["relative"], 3),
        )
        table.add_row(*(Text(literal(cell, encoding)) for cell in cells))
    return table


def _digits(values: Sequence[object]) -> list[str]:
    """Return values with nine digits, or with all where nine do not tell those apart that differ."""
    short = [_number(value, 9) for value in values]
    if len(set(short)) == len(set(map(str, values))):
        return short
    return ["-" if value is None else str(value) for value in values]


def _number(value: object, digits: int) -> str:
    if value is None:
        return "-"
    return format(value, f".{digits}g") if isinstance(value, float) else str(value)


def _index(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(str(part) for part in value)}]"
    return str(value)


def blame_lines(
    blame: Mapping[str, Any] | None, stages: Mapping[str, str] | None, losses: Mapping[str, Any] | None = None
) -> list[str]:
    """Return a line each: which side is wrong, and why; how each stage did; where a training parts first. What is not
    known is left out.
    """
    lines = [f"blame: {blame['verdict']}, {blame['reason']}"] if blame else []
    lines += [f"stages: {stages_words(stages)}"] if stages else []
    parting = losses.get("parting") if losses else None
    return [*lines, f"training: first apart {parting['words']}"] if parting else lines


def stages_words(stages: Mapping[str, str]) -> str:
    """Return how each executor did, by the names that they have beside each other: `eager right, inductor wrong`."""
    return ", ".join(f"{executor_name(name)} {outcome}" for name, outcome in stages.items())


def program_parts(evidence: Mapping[str, Any], encoding: str = "utf-8") -> list[RenderableType]:
    """Return what a case ran: its program with its inputs, then the simplest one found, or why there is none.

    Nothing is shown twice: not the program where only its inputs became simpler, nor those where nothing did.
    """
    program, inputs, shrunk = evidence["program"], evidence.get("inputs") or (), evidence.get("shrunk")
    parts: list[RenderableType] = []
    if program:
        parts += [Text(), program_table(str(program), evidence["blamed_line"], encoding), *_values(inputs, encoding)]
    if not shrunk:
        return parts
    note = shrunk["note"]
    if shrunk["program"] is None:
        return [*parts, Text(), Text(literal(f"not shrunk: {note}", encoding), overflow="fold")]
    effort = f"({counted(shrunk['runs'], 'run')}, {shrunk['seconds']:.1f} s)"
    size = f"{counted(shrunk['calls'], 'call')}, {counted(shrunk['elements'], 'element')}"
    parts.append(Text())
    if shrunk["program"] != program:
        parts.append(Text(f"shrunk to {size} {effort}:"))
        parts.append(program_table(str(shrunk["program"]), shrunk["blamed_line"], encoding))
        parts += _values(shrunk["values"], encoding)
    elif list(shrunk["values"]) != list(inputs):
        parts.append(Text(f"the same program, shrunk to {size} {effort}:"))
        parts += _values(shrunk["values"], encoding)
    else:
        parts.append(Text(f"{'no smaller one was found' if note else 'as small as it gets'} {effort}"))
    if note:
        parts.append(Text(literal(note, encoding), overflow="fold"))
    if shrunk.get("check"):
        parts.append(Text(literal(shrunk["check"], encoding), overflow="fold"))
    return parts


def _values(lines: Sequence[str], encoding: str) -> list[RenderableType]:
    return [Text(literal(f"  {line}", encoding), overflow="fold") for line in lines]
