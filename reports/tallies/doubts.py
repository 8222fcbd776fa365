"""Doubts: the cases whose answer the reference does not define, by op."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from reports.records.shape import Record

#: An op with a greater share of undecidable cases is told of by name: hardly any input should be in doubt.
MOST_SHARE = 0.02


@dataclass(frozen=True)
class OpDoubts:
    """One op: its undecidable cases, all of its cases, and how often each reason was given, the commonest first."""

    op: str
    undecidable: int
    cases: int
    reasons: tuple[tuple[str, int], ...]

    @property
    def excessive(self) -> bool:
        """Whether more of the cases are undecidable than should be."""
        return self.undecidable > MOST_SHARE * self.cases

    def __str__(self) -> str:
        """Such as `argmax: 7 of 120 cases have undecidable results (tie)`."""
        reasons = ", ".join(reason for reason, _ in self.reasons)
        return f"{self.op}: {self.undecidable:,} of {self.cases:,} cases have undecidable results ({reasons})"

    def to_json(self) -> dict[str, object]:
        """Return the fields as plain data."""
        return {
            "op": self.op,
            "undecidable": self.undecidable,
            "cases": self.cases,
            "reasons": dict(self.reasons),
        }


class DoubtTally:
    """Counts records into OpDoubts; memory grows with the ops."""

    def __init__(self) -> None:
        self._cases: Counter[str] = Counter()
        self._doubted: Counter[str] = Counter()
        self._reasons: dict[str, Counter[str]] = defaultdict(Counter)
        self._of_cases: Counter[str] = Counter()

    def take(self, record: Record) -> None:
        """Count one case; a refused draw is none."""
        if record["verdict"] == "rejected":
            return
        doubts = {(op, reason) for op, _, reason in record.get("undecidable") or ()}
        self._cases.update({*record["ops"], *(op for op, _ in doubts)})
        self._doubted.update({op for op, _ in doubts})
        for op, reason in doubts:
            self._reasons[op][reason] += 1
        if record["verdict"] == "undecidable":
            self._of_cases[", ".join(sorted({reason for _, reason in doubts}))] += 1

    def reasons(self) -> dict[str, int]:
        """How many cases were undecidable for which reasons, each case once: `{"tie": 3, "rounding, tie": 1}`."""
        return dict(sorted(self._of_cases.items(), key=lambda item: (-item[1], item[0])))

    def doubts(self) -> tuple[OpDoubts, ...]:
        """Every op with an undecidable case, the one with the greatest share first."""
        rows = [
            OpDoubts(
                op,
                count,
                self._cases[op],
                tuple(sorted(self._reasons[op].items(), key=lambda item: (-item[1], item[0]))),
            )
            for op, count in self._doubted.items()
        ]
        return tuple(sorted(rows, key=lambda row: (-row.undecidable / row.cases, row.op)))
