"""The op x phase matrix: how the cases that called an op ended, phase by phase."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields

from reports.records.kinds import DEADLY, ENDING, PHASES
from reports.records.shape import ENDS, Record

#: Where an op's values are wrong, its gradients and buffers were not held against anything sound; and where eager is
#: wrong, its graph was held against nothing but that.
BASIS: Mapping[str, tuple[str, ...]] = {
    "eager_backward": ("eager_forward",),
    "eager_second": ("eager_forward", "eager_backward", "global_forward", "global_backward"),
    "eager_update": ("eager_forward", "eager_backward"),
    "global_backward": ("global_forward",),
    "graph_forward": ("eager_forward", "global_forward"),
    "graph_backward": ("eager_forward", "eager_backward", "global_forward", "global_backward", "graph_forward"),
    "graph_update": ("eager_forward", "eager_backward", "eager_update", "graph_forward", "graph_backward"),
    "graph_state": ("eager_forward", "global_forward", "graph_forward"),
}
#: The op of a divergence that no single call shows.
WHOLE = "program"
#: What a record says of the backward of a case that has none.
NO_BACKWARD = "nothing to differentiate"
#: What the level of a divergence says of its case, whatever its kind.
BY_LEVEL = {"refuses": "refuses", "counted": "refuses", "stricter": "known", "known": "known"}
#: Worst first.
OUTCOMES = ("crashed", "wrong", "refuses", "known", "undecidable", "aligned", "not_checked")


@dataclass(frozen=True)
class Cell:
    """Cases of one op in one phase, each counted once by the worst that it showed there."""

    aligned: int = 0
    undecidable: int = 0
    known: int = 0
    refuses: int = 0
    wrong: int = 0
    crashed: int = 0
    not_checked: int = 0

    @property
    def checked(self) -> int:
        """The cases that were compared in this phase."""
        return self.aligned + self.undecidable + self.known + self.refuses + self.wrong + self.crashed

    @property
    def worst(self) -> str:
        """The worst outcome that a case has; `not_checked` for none."""
        return next((name for name in OUTCOMES if getattr(self, name)), "not_checked")

    def to_json(self) -> dict[str, int]:
        """Return the counts as plain data."""
        return {part.name: getattr(self, part.name) for part in fields(self)}


@dataclass(frozen=True)
class Matrix:
    """The cells of all ops, by op and phase, and the tests that called each op; an op lacks the phases that none of its
    cases has.
    """

    cells: Mapping[str, Mapping[str, Cell]] = field(default_factory=dict)
    tests: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def ranked(self) -> list[str]:
        """All ops, those with the worst outcome in most cases first."""
        return sorted(self.cells, key=lambda op: (self._rank(op), op))

    @property
    def aligned(self) -> int:
        """How many ops are aligned in every phase in which they were checked."""
        return sum(self._rank(op)[0] == OUTCOMES.index("aligned") for op in self.cells)

    @property
    def unchecked(self) -> int:
        """How many ops were checked in no phase."""
        return sum(self._rank(op)[0] == OUTCOMES.index("not_checked") for op in self.cells)

    def phases(self, ops: Iterable[str]) -> list[str]:
        """Return the phases in which any of `ops` was checked, in order."""
        return ordered({phase for op in ops for phase, cell in self.cells[op].items() if cell.checked})

    def to_json(self) -> dict[str, dict[str, dict[str, int]]]:
        """Return `{op: {phase: counts}}` with ops sorted by name."""
        return {op: {phase: cell.to_json() for phase, cell in row.items()} for op, row in sorted(self.cells.items())}

    def worst(self, op: str) -> str:
        """Return the worst outcome of an op in any phase."""
        return min((cell.worst for cell in self.cells[op].values()), key=OUTCOMES.index)

    def _rank(self, op: str) -> tuple[int, int]:
        row = self.cells[op].values()
        rank = OUTCOMES.index(self.worst(op))
        return rank, -sum(getattr(cell, OUTCOMES[rank]) for cell in row)


class MatrixTally:
    """Counts `end` records into a Matrix; memory grows with the ops and their tests, not with the cases."""

    def __init__(self) -> None:
        self._counts: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        self._tests: dict[str, set[str]] = defaultdict(set)

    def take(self, record: Record) -> Mapping[tuple[str, str], str]:
        """Count one case and return its outcome by op and phase.

        A draw that PyTorch refused counts only for what it was found to diverge in.
        """
        worst = _worst_outcomes(record)
        outcomes = dict(worst)
        if record["verdict"] != "rejected":
            outcomes.update(_compared(record, worst))
        for (op, phase), outcome in outcomes.items():
            self._counts[op][phase][outcome] += 1
            self._tests[op].add(record["test"])
        return outcomes

    def matrix(self) -> Matrix:
        """Return what was counted."""
        return Matrix(
            {op: {phase: Cell(**row[phase]) for phase in ordered(row)} for op, row in sorted(self._counts.items())},
            {op: tuple(sorted(tests)) for op, tests in sorted(self._tests.items())},
        )


def ordered(phases: Iterable[str]) -> list[str]:
    """Return phases in the order of a case's life, with those that are not ours last."""
    return sorted(phases, key=lambda phase: (PHASES.index(phase) if phase in PHASES else len(PHASES), phase))


def blamed(op: str, ops: Sequence[str]) -> str:
    """The op that a divergence counts for: that of a program as a whole is that of its only op."""
    only = {*ops}
    return next(iter(only)) if op == WHOLE and len(only) == 1 else op


def _compared(record: Record, worst: Mapping[tuple[str, str], str]) -> Iterator[tuple[tuple[str, str], str]]:
    """The ops and phases of a case for which no divergence is shown: aligned, or not checked."""
    rows = record["divergences"]
    # A case that ended in its eager run says nothing of its other ops; nor does one whose culprit is not known.
    ended = any(row["phase"] in ("eager_forward", "global_forward") and row["kind"] in ENDING for row in rows)
    in_graph = any(row["phase"].startswith("graph") for row in rows)
    died = record["verdict"] in ENDS and not in_graph
    compared = not (ended or died or record["verdict"] == "skipped")
    wrong = {place for place, outcome in worst.items() if outcome != "undecidable"}
    for op in set(record["ops"]):
        for phase, checked in _phases(record):
            if (op, phase) in worst:
                continue
            sound = compared and checked and not (wrong and _doubts(op, phase) & wrong)
            yield (op, phase), "aligned" if sound else "not_checked"


def _doubts(op: str, phase: str) -> set[tuple[str, str]]:
    """The ops and phases whose divergence leaves nothing sound to hold this op's phase against: for `relu` in
    `eager_backward` those are `relu` and the whole program in `eager_forward`.
    """
    basis = BASIS.get(phase, ())
    return {(WHOLE, phase), *((culprit, part) for culprit in (WHOLE, op) for part in basis)}


def _worst_outcomes(record: Record) -> dict[tuple[str, str], str]:
    """The worst outcome of each op and phase that a case's divergences name."""
    worst: dict[tuple[str, str], str] = {}
    for op, phase, _ in record.get("undecidable") or ():
        worst[blamed(op, record["ops"]), phase] = "undecidable"
    for row in record["divergences"]:
        op = blamed(row["op"], record["ops"])
        outcome = _outcome(row)
        held = worst.get((op, row["phase"]), outcome)
        worst[op, row["phase"]] = min(held, outcome, key=OUTCOMES.index)
    return worst


def _outcome(row: Mapping[str, str]) -> str:
    worst = "crashed" if row["kind"] in DEADLY else "wrong"
    return BY_LEVEL.get(row["level"], worst)


def _phases(record: Record) -> Iterator[tuple[str, bool]]:
    """The phases that a case has, and whether each was compared; a case without gradients or buffers lacks theirs.

    A case with global tensors says so: its record's `graph` has `eager: global`.
    """
    graph = record.get("graph") or {"forward": "off", "backward": "off"}
    forward = graph["forward"] == "verified"
    eager = "global" if graph.get("eager") == "global" else "eager"
    yield f"{eager}_forward", True
    yield "graph_forward", forward
    if graph["backward"] != NO_BACKWARD:
        yield f"{eager}_backward", True
        yield "graph_backward", graph["backward"] == "verified"
    if "second" in graph:
        yield "eager_second", graph["second"] == "verified"
    if "training" in graph:
        yield "eager_update", True
        yield "graph_update", graph["training"] == "verified"
    if "state" in graph:
        yield "graph_state", graph["state"] == "verified"
