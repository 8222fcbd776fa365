"""A run as one picture, for a README or a pull request: the verdict, the cases by segment, the map of all ops."""

from __future__ import annotations

import re
from typing import NamedTuple

from reports.findings.op_map import SHAPES, families
from reports.findings.verdict import headline
from reports.page.templating import style, template
from reports.tallies.matrix import Cell, Matrix
from reports.tallies.segments import SEGMENTS
from reports.tallies.summary import Summary

#: In pixels: how wide it is, the room around it, and where the map begins.
WIDTH, MARGIN, TOP = 860, 16, 112
#: How far shapes are apart, families, and the first shape of a family from its name; about as wide is a letter of it.
STEP, GAP, NAME, LETTER = 10, 12, 6, 6
#: As the page has its colours: a name, and the colour by day and by night.
_COLOUR = re.compile(r"--([\w-]+): light-dark\((#\w+), (#\w+)\);")


class _Family(NamedTuple):
    """A family, or a line of its ops, as it is drawn: its name, where its first shape is, and each shape from there, as
    its outcome and its place.
    """

    name: str
    left: int
    top: int
    shapes: list[tuple[str, int, int]]


def svg_picture(summary: Summary) -> str:
    """Return an SVG image, in the colours of day or of night as whoever looks at it prefers."""
    colours = _COLOUR.findall(style("report.css"))
    verdict, _, sentence = headline(summary).partition(": ")
    drawn, height = _families(summary.matrix)
    return template("picture.svg.j2").render(
        verdict=verdict,
        sentence=sentence,
        tone="aligned" if verdict == "aligned" else "wrong",
        bar=_bar(summary),
        legend=[(name, f"{count:,}") for name in SEGMENTS if (count := summary.segments.cases.get(name))],
        families=drawn,
        outlines=SHAPES,
        day={name: day for name, day, _ in colours},
        night={name: night for name, _, night in colours},
        width=WIDTH,
        height=height,
        margin=MARGIN,
    )


def _bar(summary: Summary) -> list[tuple[str, float, float]]:
    """Each segment that has cases, where it begins and how wide it is."""
    room = WIDTH - 2 * MARGIN
    rows, left = [], float(MARGIN)
    for name in SEGMENTS:
        wide = room * summary.segments.cases.get(name, 0) / max(1, summary.cases)
        if wide:
            rows.append((name, round(left, 2), round(wide, 2)))
        left += wide
    return rows


def _families(matrix: Matrix) -> tuple[list[_Family], int]:
    """The families from left to right, in as many lines as they take, and where the picture ends. A phase in which no
    op of a line was checked takes no room there.
    """
    most = (WIDTH - 2 * MARGIN) // STEP
    left, top, tall = MARGIN, TOP, 0
    drawn: list[_Family] = []
    for name, ops in families(matrix).items():
        for begin in range(0, len(ops), most):
            line = ops[begin : begin + most]
            wide = max(STEP * len(line), LETTER * len(name))
            if left > MARGIN and left + wide > WIDTH - MARGIN:
                left, top, tall = MARGIN, top + tall + NAME + 2 * GAP, 0
            phases = matrix.phases(line)
            shapes = [
                (matrix.cells[op].get(phase, Cell()).worst, STEP * column, STEP * row)
                for column, op in enumerate(line)
                for row, phase in enumerate(phases)
            ]
            tall = max(tall, STEP * len(phases))
            drawn.append(_Family(name if not begin else "", left, top, shapes))
            left += wide + GAP
    return drawn, top + tall + MARGIN if drawn else TOP - MARGIN
