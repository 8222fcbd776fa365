"""The argument space of each op: which of it the tensors of a run have reached, and which never."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from reports.records.shape import Record

#: What a tensor can have. A run may have levels besides, such as rank 6.
AXES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "dtype": (
            *("float16", "bfloat16", "float32", "float64"),
            *("int8", "uint8", "int16", "int32", "int64", "bool", "complex64", "complex128"),
        ),
        "rank": ("0", "1", "2", "3", "4", "5"),
        "layout": ("contiguous", "offset", "transposed", "channels_last", "strided", "expanded"),
        "values": ("ordinary", "nan", "inf", "huge", "subnormal", "far", "zero", "kink", "tie", "empty"),
    }
)
SPACE_PHASES = ("eager_forward", "eager_backward", "graph_forward", "graph_backward")
#: What was done with the tensors of a cell: they were compared in a phase, the reference has refused them, the target
#: says that it does not support them.
REACHED_COUNTS = (*SPACE_PHASES, "refused", "unsupported")
#: What has become of a level, the best first.
STATES = ("reached", "unsupported", "refused", "never")


class SpaceCell(NamedTuple):
    """What one tensor has; `values` are its classes, several as `nan+zero`."""

    dtype: str
    rank: str
    layout: str
    values: str

    def levels(self, axis: str) -> list[str]:
        """Its levels on an axis: several classes of values, else one."""
        level: str = getattr(self, axis)
        return level.split("+") if axis == "values" else [level]


@dataclass(frozen=True)
class LaidOut:
    """The laid-out cases of one or more tests: how many there are, and how many more the target was spared; the levels
    that the reference refused; the pairs of levels that were wanted, and those that a case has.
    """

    cases: int = 0
    spared: int = 0
    refused: int = 0
    pairs: int = 0
    covered: int = 0

    def __add__(self, other: LaidOut) -> LaidOut:
        """Those of both."""
        return LaidOut(
            self.cases + other.cases,
            self.spared + other.spared,
            self.refused + other.refused,
            self.pairs + other.pairs,
            self.covered + other.covered,
        )


@dataclass(frozen=True)
class OpSpace:
    """What an op's tensors have reached: by cell, how many were compared in each phase, refused, and unsupported, in
    the order of REACHED_COUNTS. `tests` are how many called it, `laid_out` the cases of these.
    """

    cells: Mapping[SpaceCell, tuple[int, ...]] = field(default_factory=dict)
    tests: int = 0
    laid_out: LaidOut = LaidOut()

    def levels(self, axis: str) -> dict[str, str]:
        """Each level of an axis with its state: one of STATES. The axis `phase` has those, too."""
        if axis == "phase":
            totals = [sum(counts) for counts in zip(*self.cells.values(), strict=True)] or [0] * len(REACHED_COUNTS)
            return {phase: "reached" if totals[i] else "never" for i, phase in enumerate(SPACE_PHASES)}
        found: dict[str, str] = {}
        for cell, counts in self.cells.items():
            for level in cell.levels(axis):
                found[level] = min(found.get(level, "never"), _state(counts), key=STATES.index)
        return {level: found.get(level, "never") for level in (*AXES[axis], *sorted(found.keys() - {*AXES[axis]}))}

    def to_json(self) -> dict[str, object]:
        """Return everything as plain data; a cell is the list of its levels and then its counts."""
        return {
            "tests": self.tests,
            "laid_out": asdict(self.laid_out),
            "levels": {axis: self.levels(axis) for axis in (*AXES, "phase")},
            "cells": [[*cell, *counts] for cell, counts in sorted(self.cells.items())],
        }


@dataclass(frozen=True)
class ArgumentSpace:
    """What all ops of a run have reached, and its laid-out cases, each counted once."""

    ops: Mapping[str, OpSpace] = field(default_factory=dict)
    laid_out: LaidOut = LaidOut()

    def of(self, ops: Collection[str]) -> ArgumentSpace:
        """The same of some ops alone, in their order."""
        return ArgumentSpace({op: self.ops[op] for op in ops}, self.laid_out)

    def to_json(self) -> dict[str, object]:
        """Return the content of coverage.json as plain data."""
        return {
            "counts": [*REACHED_COUNTS],
            "laid_out": asdict(self.laid_out),
            "ops": {op: space.to_json() for op, space in self.ops.items()},
        }

    def to_page(self) -> dict[str, object]:
        """Return what the report's coverage.js has of it: levels are numbers, their places in `axes`.

        A cell is the numbers of its dtype, rank and layout, the list of those of its values, and its counts.
        """
        cells = [cell for space in self.ops.values() for cell in space.cells]
        axes = {axis: _known(axis, (level for cell in cells for level in cell.levels(axis))) for axis in AXES}
        place = {axis: {level: number for number, level in enumerate(levels)} for axis, levels in axes.items()}

        def row(cell: SpaceCell, counts: tuple[int, ...]) -> list[object]:
            dtype, rank, layout, values = ([place[axis][level] for level in cell.levels(axis)] for axis in AXES)
            return [*dtype, *rank, *layout, values, *counts]

        return {
            "axes": axes,
            "counts": [*REACHED_COUNTS],
            "ops": [
                [op, space.tests, asdict(space.laid_out), [row(*item) for item in sorted(space.cells.items())]]
                for op, space in self.ops.items()
            ],
        }


def _known(axis: str, found: Iterable[str]) -> list[str]:
    return [*AXES[axis], *sorted({*found} - {*AXES[axis]})]


def _state(counts: tuple[int, ...]) -> str:
    """What has become of the tensors of a cell."""
    named = dict(zip(REACHED_COUNTS, counts, strict=True))
    if named["eager_forward"]:
        return "reached"
    return next((state for state in ("unsupported", "refused") if named[state]), "never")


class ArgumentSpaceTally:
    """Adds up `reached` records; memory grows with ops and cells."""

    def __init__(self) -> None:
        self._cells: dict[str, dict[SpaceCell, list[int]]] = {}
        self._tests: dict[str, dict[str, None]] = {}
        self._designs: dict[str, LaidOut] = {}

    def take(self, record: Record) -> None:
        """Add one test's; one that ran twice in a run has what both have reached."""
        test = record["test"]
        self._designs[test] = self._designs.get(test, LaidOut()) + LaidOut(**record["laid_out"])
        for group in record["groups"]:
            for op in group["ops"]:
                self._tests.setdefault(op, {})[test] = None
                held = self._cells.setdefault(op, {})
                for text, counts in group["cells"].items():
                    sums = held.setdefault(SpaceCell(*text.split(" ")), [0] * len(REACHED_COUNTS))
                    for column, count in enumerate(counts):
                        sums[column] += count

    def space(self) -> ArgumentSpace:
        """Return what was added up."""
        ops = {}
        for op, tests in sorted(self._tests.items()):
            cells = {cell: tuple(counts) for cell, counts in self._cells[op].items()}
            ops[op] = OpSpace(cells, len(tests), sum((self._designs[test] for test in tests), LaidOut()))
        return ArgumentSpace(ops, sum(self._designs.values(), LaidOut()))
