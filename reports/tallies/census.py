"""What became of each op in the cases that called it, kept apart by whose tests those were."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from reports.records.kinds import REFUSALS
from reports.records.run import Damage, Run
from reports.records.shape import Record
from reports.tallies.argument_space import REACHED_COUNTS, OpSpace, SpaceCell
from reports.tallies.matrix import MatrixTally, blamed
from reports.tallies.tally import follows

#: What an op is, the worst first: one of its cases shows something wrong; all that were compared are aligned; the
#: target says that it does not do this; it has no such op; no case was compared.
STATUSES = ("wrong", "aligned", "refused", "lacking", "unknown")
#: Kinds of a target, or of its table, that has no such op.
LACKING = ("missing", "unmapped")
#: What a case is skipped for where the target has said that it does not do, or does not have, what the case asks.
_SAID = {"says that it does not support": "refused", "the target lacks what case": "lacking"}


class Owner(NamedTuple):
    """Whose a test is: where it comes from, and the path of the op that its name spells, or nothing."""

    source: str
    path: str


@dataclass
class Found:
    """What the cases of one owner's tests that called an op have come to.

    Attributes:
        outcomes: by phase how many cases were wrong, aligned, refused, lacking, undecidable.
        kinds: what was wrong, and in how many cases.
        tests: which they were.
        cells: what the tensors had, as an OpSpace has it.
    """

    outcomes: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    kinds: Counter[str] = field(default_factory=Counter)
    tests: set[str] = field(default_factory=set)
    cells: dict[SpaceCell, list[int]] = field(default_factory=dict)

    def add(self, other: Found) -> None:
        """Take in what others have found."""
        for phase, counts in other.outcomes.items():
            self.outcomes[phase].update(counts)
        self.kinds.update(other.kinds)
        self.tests |= other.tests
        for cell, reached in other.cells.items():
            self.reach(cell, reached)

    def reach(self, cell: SpaceCell, counts: Iterable[int]) -> None:
        """Count tensors of a cell."""
        held = self.cells.setdefault(cell, [0] * len(REACHED_COUNTS))
        for column, count in enumerate(counts):
            held[column] += count

    @property
    def space(self) -> OpSpace:
        """Its cells."""
        return OpSpace({cell: tuple(counts) for cell, counts in self.cells.items()}, len(self.tests))

    @property
    def status(self) -> str:
        """One of STATUSES."""
        return status_of(self.outcomes.values())

    @property
    def statuses(self) -> dict[str, str]:
        """One of STATUSES for each phase that a case has."""
        return {phase: status_of([counts]) for phase, counts in self.outcomes.items()}


def status_of(counts: Iterable[Mapping[str, int]]) -> str:
    """The first of STATUSES that any case has."""
    held = [*counts]
    return next((status for status in STATUSES if any(one.get(status) for one in held)), "unknown")


class CensusTally:
    """Adds up records by op and owner; `owner` tells whose a test is."""

    def __init__(self, owner: Callable[[str], Owner]) -> None:
        self.found: dict[str, dict[Owner, Found]] = defaultdict(lambda: defaultdict(Found))
        self._owner = owner
        self._owners: dict[str, Owner] = {}
        self._matrix = MatrixTally()

    def take(self, run: Run) -> None:
        """Add the records of a run; those of further ranks tell of the same cases again."""
        for path, record in run.lines():
            if isinstance(record, Damage) or follows(path):
                continue
            if record["type"] == "end":
                self._end(record)
            elif record["type"] == "reached":
                for group in record["groups"]:
                    for op in group["ops"]:
                        found = self._of(op, record["test"])
                        for text, counts in group["cells"].items():
                            found.reach(SpaceCell(*text.split(" ")), counts)

    def _of(self, op: str, test: str) -> Found:
        owner = self._owners.get(test)
        if owner is None:
            owner = self._owners[test] = self._owner(test)
        found = self.found[op][owner]
        found.tests.add(test)
        return found

    def _end(self, record: Record) -> None:
        said = _said(record)
        kinds: dict[tuple[str, str], set[str]] = defaultdict(set)
        for row in record["divergences"]:
            kinds[blamed(row["op"], record["ops"]), row["phase"]].add(row["kind"])
        outcomes = self._matrix.take(record)
        if not record["ops"] and record["verdict"] == "aligned":  # an attribute is read, which is no call
            outcomes = {("", "eager_forward"): "aligned"}
        for (op, phase), outcome in outcomes.items():
            found = self._of(op, record["test"])
            shown = kinds.get((op, phase), set())
            word = said if outcome == "not_checked" and phase == "eager_forward" else _word(outcome, shown)
            if word:
                found.outcomes[phase][word] += 1
            if word == "wrong":
                found.kinds.update(shown - {*REFUSALS})


def _said(record: Record) -> str:
    """What the target has said of a case that was skipped."""
    reason = record.get("reason") or ""
    return next((word for words, word in _SAID.items() if record["verdict"] == "skipped" and words in reason), "")


def _word(outcome: str, kinds: set[str]) -> str:
    """What an outcome of the matrix says of the op, by the kinds behind it; nothing where it says nothing."""
    if outcome in ("aligned", "undecidable"):
        return outcome
    if outcome == "not_checked" or not kinds:
        return ""
    if kinds - {*REFUSALS}:
        return "wrong"
    return "lacking" if kinds <= {*LACKING} else "refused"


__all__ = ["LACKING", "STATUSES", "CensusTally", "Found", "Owner", "status_of"]
