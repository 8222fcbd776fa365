"""Captures: how the cases of a run have come into the graphs of an executor that tells so."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from reports.records.kinds import CAPTURES
from reports.words.quantities import counted, share


def executor_name(target: str) -> str:
    """What an executor is called beside others: `aot_eager` for the target `torch:aot_eager`."""
    return target.removeprefix("torch:")


@dataclass(frozen=True)
class Captures:
    """Cases by outcome, and the reasons of those that did not come whole into one graph.

    `executor` is whose graphs they are, by its name as a target, where the target lists several; else empty.
    """

    outcomes: Mapping[str, int] = field(default_factory=dict)
    reasons: Mapping[str, int] = field(default_factory=dict)
    executor: str = ""

    @property
    def lead(self) -> str:
        """What stands before words about them: `aot_eager: `, or nothing."""
        return f"{executor_name(self.executor)}: " if self.executor else ""

    @property
    def total(self) -> int:
        """The cases of which the target tells; none where it never does."""
        return sum(self.outcomes.values())

    @property
    def share(self) -> str:
        """How many of them came whole into a graph, in percent."""
        return share(self.outcomes.get("captured", 0) + self.outcomes.get("recompiled", 0), self.total)

    @property
    def words(self) -> str:
        """All outcomes: `52 of 54 cases whole, 2 with graph breaks`, of one executor of several after its name."""
        rest = {outcome: self.outcomes.get(outcome, 0) for outcome in CAPTURES if outcome != "captured"}
        others = [f"{count:,} {CAPTURES[outcome]}" for outcome, count in rest.items() if count]
        whole = f"{self.outcomes.get('captured', 0):,} of {counted(self.total, 'case')} whole"
        return self.lead + ", ".join([whole, *others])

    def besides(self, told: Collection[str]) -> dict[str, int]:
        """The reasons that are not `told` elsewhere: those refused stand among what was not verified."""
        return {self.lead + reason: count for reason, count in self.reasons.items() if reason not in told}

    def to_json(self) -> dict[str, object]:
        """Return the fields as plain data, each outcome with its count."""
        return {**{outcome: self.outcomes.get(outcome, 0) for outcome in CAPTURES}, "reasons": dict(self.reasons)}
