"""The op x phase matrix as a table: one line per op, one column per phase, words before numbers."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from reports.tallies.matrix import Cell, Matrix
from reports.words.literals import literal

STYLES = {"crashed": "bold red", "wrong": "red", "refuses": "yellow", "known": "yellow", "undecidable": "yellow"}


def matrix_table(matrix: Matrix, ops: Sequence[str], encoding: str = "utf-8") -> Table:
    """Return the lines of `ops` with the phases in which any of them was checked as columns.

    A cell names the worst outcome and how many of the checked cases have it; it is `aligned` where all of them are, and
    `-` where none was checked.
    """
    phases = matrix.phases(ops)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    table.add_column("\nop", overflow="fold")
    for phase in phases:
        table.add_column(Text(literal(phase, encoding).replace("_", "\n", 1)), overflow="fold")
    for op in ops:
        row = matrix.cells[op]
        table.add_row(Text(literal(op, encoding)), *(_cell(row.get(phase, Cell())) for phase in phases))
    return table


def _cell(cell: Cell) -> Text:
    worst = cell.worst
    if worst == "not_checked":
        return Text("-")
    if worst == "aligned":
        return Text(worst)
    count = getattr(cell, worst)
    share = "all" if count == cell.checked else f"{count}/{cell.checked}"
    return Text(f"{worst} {share}", style=STYLES[worst])
