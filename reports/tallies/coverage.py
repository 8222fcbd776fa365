"""Coverage: what a run checked of what there is to check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from reports.records.shape import Record
from reports.tallies.matrix import ordered


@dataclass(frozen=True)
class Coverage:
    """The checked cases by op, dtype and phase, and what the target has.

    `registry` are the op types registered in the target, `touched` those that ran; `names` the ops that reference and
    target both have, as tests type them. All three are empty for a target that does not tell.
    """

    checked: Mapping[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)
    registry: frozenset[str] = frozenset()
    touched: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()

    @property
    def untested(self) -> list[str]:
        """The ops of both sides that no case called."""
        return sorted(self.names - self.checked.keys())

    def to_json(self) -> dict[str, object]:
        """Return the content of the report's coverage.js as plain data: per op and dtype the counts by phase."""
        phases = ordered({phase for rows in self.checked.values() for row in rows.values() for phase in row})
        ops = [
            [op, {dtype: [row.get(phase, 0) for phase in phases] for dtype, row in sorted(rows.items())}]
            for op, rows in sorted(self.checked.items())
        ]
        registry = {"names": sorted(self.registry), "touched": sorted(self.touched)} if self.registry else None
        return {
            "phases": phases,
            "ops": ops,
            "registry": registry,
            "untested": self.untested if self.names else None,
        }


class CoverageTally:
    """Counts records into a Coverage; memory grows with ops and dtypes."""

    def __init__(self) -> None:
        self._checked: dict[str, dict[str, Counter[str]]] = {}
        self._registry: set[str] = set()
        self._touched: set[str] = set()
        self._names: set[str] = set()

    def case(self, record: Record, outcomes: Mapping[tuple[str, str], str]) -> None:
        """Count one case by the dtypes that its ops were given; `outcomes` are the matrix's, by op and phase."""
        pairs = dict.fromkeys(zip(record["ops"], record["dtypes"], strict=False))
        typed = {op for op, dtype in pairs if dtype}
        for op, dtype in pairs:
            if not dtype and op in typed:  # the construction of a module that is called next
                continue
            row = self._checked.setdefault(op, {}).setdefault(dtype or "none", Counter())
            for (other, phase), outcome in outcomes.items():
                if other == op and outcome != "not_checked":
                    row[phase] += 1

    def surface(self, record: Record) -> None:
        """Add what a target told of itself."""
        self._registry.update(record["registry"])
        self._touched.update(record["touched"])
        self._names.update(record["names"])

    def coverage(self) -> Coverage:
        """Return what was counted."""
        return Coverage(
            {op: {dtype: dict(row) for dtype, row in rows.items()} for op, rows in self._checked.items()},
            frozenset(self._registry),
            frozenset(self._touched),
            frozenset(self._names),
        )
