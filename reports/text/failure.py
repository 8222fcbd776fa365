"""The text of a failed test: what people read in the terminal where the test is red."""

from __future__ import annotations

import shutil
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from reports.records.shape import RED_LEVELS
from reports.text.evidence import blame_lines, program_parts, worst_table
from reports.words.literals import literal, literal_lines, literal_path
from reports.words.paper import Paper
from reports.words.quantities import counted

MOST_BLOCKS = 3
#: So many more fingerprints are named.
MOST_NAMES = 10
#: Longer lines do not read well.
WIDEST = 100


def reading_width() -> int:
    """The columns of a text that a person reads in this terminal, `WIDEST` at most, as where there is no terminal."""
    return min(WIDEST, shutil.get_terminal_size((WIDEST, 0)).columns)


def failure_text(
    rows: Sequence[Mapping[str, object]],
    cases: int,
    width: int | None = None,
    repros: Mapping[str, Path] | None = None,
    refused: Container[object] = (),
) -> str:
    """Tell a test's divergences: one block per fingerprint with message, program and worst elements.

    `rows` are divergence rows as in the records, in the order of their cases; `cases` is how many cases the test ran;
    `repros` says by id where the run will write a script, `refused` holds the case keys of draws that the reference
    refused. `width` is in columns; None: as many as `reading_width` says.
    """
    groups: dict[object, list[Mapping[str, object]]] = {}
    for row in rows:
        groups.setdefault(row["fingerprint"], []).append(row)
    paper = Paper(reading_width() if width is None else width)
    console = paper.console
    keys = {row["case_key"] for row in rows}
    draws = sum(key in refused for key in keys)
    places = [f"{len(keys) - draws} of {counted(cases, 'case')}"] if len(keys) > draws else []
    if draws:
        beside = "" if places else f", beside {counted(cases, 'case')}"
        places.append(f"{counted(draws, 'draw')} that PyTorch refuses{beside}")
    console.print(Text(f"{counted(len(groups), 'divergence')} in {' and '.join(places)}"))
    for group in list(groups.values())[:MOST_BLOCKS]:
        _print_block(console, group, (repros or {}).get(str(group[0]["id"])))
    others = [*groups.values()][MOST_BLOCKS:]
    if others:
        console.print()
        console.print(Text(f"and {counted(len(others), 'more fingerprint')}:"))
        for group in others[:MOST_NAMES]:
            line = Text(f"{_title(group)}  {literal(str(group[0]['replay']))}", overflow="fold")
            console.print(Padding(line, (0, 0, 0, 2)))
        if len(others) > MOST_NAMES:
            console.print(Text(f"  and {len(others) - MOST_NAMES:,} more, see summary.json"))
    return paper.text().rstrip()


def _title(group: Sequence[Mapping[str, object]]) -> str:
    """A fingerprint, and how many cases have it."""
    cases = counted(len({row["case_key"] for row in group}), "case")
    return f"{literal(str(group[0]['fingerprint']))}  {cases}"


def _print_block(console: Console, group: Sequence[Mapping[str, object]], repro: Path | None) -> None:
    """Print what shows one fingerprint: `group` are its rows, of which the first is told in full."""
    first = group[0]
    console.print()
    console.print(Text(_title(group)))
    for line in literal_lines(str(first["message"]), "utf-8"):
        console.print(Padding(Text(line, overflow="fold"), (0, 0, 0, 2)))
    if first["reason"] and first["level"] in RED_LEVELS:  # of one that a mark excuses, the mark says it
        console.print(Padding(Text(literal(str(first["reason"])), overflow="fold"), (0, 0, 0, 2)))
    evidence: Any = first["evidence"] or {}
    stages: Any = first.get("stages")
    for line in blame_lines(evidence.get("blame"), stages, evidence.get("losses")):
        console.print(Padding(Text(literal(line), overflow="fold"), (0, 0, 0, 2)))
    if evidence:
        for part in program_parts(evidence):
            console.print(Padding(part, (0, 0, 0, 2)))
    if evidence and evidence["worst"]:
        console.print()
        console.print(Padding(worst_table(evidence["worst"], str(first["target"])), (0, 0, 0, 2)))
    console.print()
    console.print(Padding(Text(literal(str(first["replay"]))), (0, 0, 0, 2)))
    if repro is not None:
        console.print(Text(f"  repro: {literal_path(repro)}"), soft_wrap=True)
