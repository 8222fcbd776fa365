"""The program shows its diverging line, the table its worst elements."""

from __future__ import annotations

import io

from rich.console import Console

from reports.evidence import program_table, worst_table


def shown(table, width=60):
    """Return the lines of a table."""
    file = io.StringIO()
    Console(file=file, width=width, _environ={}).print(table)
    return [line.rstrip() for line in file.getvalue().splitlines()]


def test_blamed_line_is_marked():
    """The first diverging line, counted from 1, has the mark."""
    assert shown(program_table("def program(torch, x):\n    return x[0]\n", 2)) == [
        "  def program(torch, x):",
        ">     return x[0]",
    ]


def test_no_blamed_line():
    """Without a blamed line nothing is marked."""
    assert shown(program_table("a\nb", None)) == ["  a", "  b"]


def test_long_program_is_cut_around_the_mark():
    """A long program shows forty lines with the marked one among them."""
    lines = shown(program_table("\n".join(f"line {i}" for i in range(1, 101)), 60))
    assert lines[0] == "  ... 35 lines above"
    assert lines[-1] == "  ... 25 lines below"
    assert "> line 60" in lines
    assert len(lines) == 42


def test_worst_elements():
    """Five rows at most; values which nine digits do not tell apart have all their digits."""
    worst = [
        {"index": [0, 1], "reference": 1.0, "actual": 2.0, "absolute": 1.0, "relative": 0.5},
        {"index": [], "reference": 0.1, "actual": 0.1 + 2e-16, "absolute": 2e-16, "relative": 2e-15},
        {"index": [2], "reference": "nan", "actual": "-inf", "absolute": "nan"},
    ]
    assert shown(worst_table(worst * 2, "oneflow"), 90) == [
        "index    reference              oneflow   absolute   relative",
        "[0, 1]           1                    2          1        0.5",
        "[]             0.1   0.1000000000000002      2e-16      2e-15",
        "[2]            nan                 -inf        nan          -",
        "[0, 1]           1                    2          1        0.5",
        "[]             0.1   0.1000000000000002      2e-16      2e-15",
    ]
