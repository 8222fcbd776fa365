"""Findings: the rows of one fingerprint taken together, whatever the tests that showed them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from reports.records.kinds import severity
from reports.records.shape import LEVELS, RED_LEVELS
from reports.words.quantities import counted

#: What is said beside the number of the divergences of a level.
NOTES = {
    "known": "explained by a ledger or an xfail mark",
    "counted": "ops that the target lacks, does not support there or has no row for, counted by their tests",
    "stricter": "seen by these checks only, not red",
}


class Row(Protocol):
    """What a finding reads of a divergence, of this run or of a saved one."""

    @property
    def id(self) -> str:
        """Eight digits that stand for the fingerprint."""

    @property
    def fingerprint(self) -> str:
        """Target, phase, kind, op and facts."""

    @property
    def test(self) -> str:
        """The node id of the test."""

    @property
    def kind(self) -> str:
        """What kind of divergence it is."""

    @property
    def level(self) -> str:
        """How bad it is, one of shape.LEVELS."""

    @property
    def case_key(self) -> str:
        """The first case that showed it."""

    @property
    def message(self) -> str:
        """What that case showed."""

    @property
    def replay(self) -> str:
        """The command that shows it again."""

    @property
    def count(self) -> int:
        """How many cases of the test showed it."""


@dataclass(frozen=True)
class Finding:
    """The rows of one fingerprint: at least one, the worst level first, then by test."""

    rows: tuple[Row, ...]

    @property
    def first(self) -> Row:
        """The row that speaks for all of them."""
        return self.rows[0]

    @property
    def fingerprint(self) -> str:
        """The fingerprint that all rows share."""
        return self.first.fingerprint

    @property
    def level(self) -> str:
        """The worst level of any row."""
        return self.first.level

    @property
    def cases(self) -> int:
        """The cases of all tests."""
        return sum(row.count for row in self.rows)

    @property
    def tests(self) -> tuple[str, ...]:
        """The tests that showed it, each once."""
        return tuple(dict.fromkeys(row.test for row in self.rows))

    @property
    def words(self) -> str:
        """Level, cases and tests."""
        return f"{self.level}, {counted(self.cases, 'case')} of {counted(len(self.tests), 'test')}"


def is_red(level: str) -> bool:
    """Return whether a divergence of this level fails the run; a level of another version may be anything."""
    return level in RED_LEVELS or level not in LEVELS


def levels(rows: Iterable[Row]) -> dict[str, int]:
    """Return how many fingerprints there are of each level, each of its worst: `{"new": 2, "known": 55}`.

    The two levels that make a run red are told as `new`.
    """
    counts = Counter("new" if is_red(finding.level) else finding.level for finding in findings(rows))
    return {level: counts[level] for level in ("known", "counted", "stricter", "new")}


def rank(level: str) -> int:
    """Return the place of a level among all levels, the worst and those of another version having 0."""
    return LEVELS.index(level) if level in LEVELS else 0


def brief(text: str, most: int) -> str:
    """Return the first line of `text` in at most `most` characters; three dots say that there is more."""
    line, _, more = text.partition("\n")
    if len(line) <= most and not more:
        return line
    return f"{line[: most - 3]}..."


def findings(rows: Iterable[Row]) -> list[Finding]:
    """Return one finding per fingerprint, the worst first: by level, by kind, by number of tests."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.fingerprint, []).append(row)
    grouped = [Finding(tuple(sorted(group, key=lambda row: (rank(row.level), row.test)))) for group in groups.values()]
    return sorted(grouped, key=_order)


def _order(finding: Finding) -> tuple[int, int, int, str]:
    return rank(finding.level), severity(finding.first.kind), -len(finding.tests), finding.fingerprint
