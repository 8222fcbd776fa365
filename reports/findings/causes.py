"""Causes: divergences of several ops that need the same and fail the same way, taken together.

That they are one fault is a guess: what they share is what a fingerprint says, and of what is raised the words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from reports.findings.finding import Finding, brief, is_red, rank
from reports.tallies.summary import Divergence
from reports.words.quantities import counted

#: What an op does that has a divergence of a kind; of any other kind it `diverges`, and the kind is named.
DOES = {
    "crash": "kills the target",
    "timeout": "does not end",
    "out_of_memory": "takes more memory than there may be",
    "value": "gives wrong values",
    "nonfinite": "differs in NaN or infinity",
    "sign": "differs in the sign of zero",
    "shape": "gives another shape",
    "dtype": "gives another dtype",
    "layout": "gives other strides",
    "alias": "shares memory otherwise",
    "mutation": "writes to its inputs otherwise",
    "grad_missing": "lacks a gradient",
    "grad_extra": "has a gradient too many",
    "requires_grad": "differs in requires_grad",
    "exception": "raises",
    "accepts_invalid": "accepts what PyTorch refuses",
    "exception_class": "raises another class of exception",
    "mode": "leaves a mode switched",
    "missing": "is missing",
    "unmapped": "has no row in the target's table",
    "unsupported": "is not supported",
}
#: Where it does so, by what its inputs need for that.
WHERE = {
    "strided": "on strided memory",
    "expanded": "on expanded memory",
    "nonfinite": "on NaN or infinity",
    "extreme": "at the ends of the range",
    "far": "far from 0",
    "tie": "at ties and kinks",
    "negative": "on numbers below 0",
    "empty": "on size 0",
    "0-dim": "on no dimension",
    "1-dim": "on one dimension",
    "unsteady": "not in each run",
    "again": "when called again",
}
MOST_CHARACTERS = 160
#: Where there is room for few.
MOST_LINES = 5


@dataclass(frozen=True)
class Cause:
    """What the divergences of two or more ops share, the worst first; `level` is new or what they all are."""

    title: str
    level: str
    findings: tuple[Finding, ...]

    @property
    def ops(self) -> tuple[str, ...]:
        """The ops, each once, by name."""
        return tuple(sorted({_row(finding).op for finding in self.findings}))

    @property
    def words(self) -> str:
        """Such as `28 ops, 40 divergences: gives wrong values on size 0, eager forward`."""
        return f"{counted(len(self.ops), 'op')}, {counted(len(self.findings), 'divergence')}: {self.title}"


def causes(found: Iterable[Finding]) -> list[Cause]:
    """Return what divergences of several ops share, those of the worst level and of most ops first."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in found:
        groups.setdefault((_level(finding), _title(_row(finding))), []).append(finding)
    shared = [Cause(title, level, tuple(rows)) for (level, title), rows in groups.items()]
    several = [cause for cause in shared if len(cause.ops) > 1]
    return sorted(several, key=lambda cause: (rank(cause.findings[0].level), -len(cause.ops), cause.title))


def cause_lines(found: Iterable[Finding]) -> list[str]:
    """Return a line for each of the first five causes, and one for how many more there are."""
    shared = causes(found)
    more = len(shared) - MOST_LINES
    rest = [f"and {counted(more, 'more shared cause')}, see the report"] if more > 0 else []
    return [cause.words for cause in shared[:MOST_LINES]] + rest


def _row(finding: Finding) -> Divergence:
    row = finding.first
    assert isinstance(row, Divergence), "causes are of a summary's own rows"
    return row


def _level(finding: Finding) -> str:
    return "new" if is_red(finding.level) else finding.level


def _title(row: Divergence) -> str:
    """What an op does, where, and in which phase; of what is raised with its words."""
    _, *facts = row.fingerprint.rpartition("/")[2].split(",")
    # How a call is written is no cause of its own: where words are told, they say what the target does not take.
    needs = [fact for fact in facts if fact != "method" and not (row.cause and fact.endswith("="))]
    where = [WHERE.get(fact, f"with {fact.removesuffix('=')}" if fact.endswith("=") else fact) for fact in needs]
    does = DOES.get(row.kind, f"diverges ({row.kind.replace('_', ' ')})")
    # Words that name their op are those of any other.
    own = rf"(?<!\w){re.escape(row.op.rpartition('.')[2])}(?!\w)"
    said = f": {brief(re.sub(own, 'OP', row.cause), MOST_CHARACTERS)}" if row.cause else ""
    return f"{' '.join([does, ' and '.join(where)]).rstrip()}, {row.phase.replace('_', ' ')}{said}"
