"""The summary of a run: counts, divergences and what did not happen, as frozen plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from reports.matrix import Matrix

# Worst first; an unknown kind stands before `missing`, since it may be anything.
KINDS = (
    "crash",
    "timeout",
    "value",
    "nonfinite",
    "sign",
    "shape",
    "dtype",
    "structure",
    "grad_missing",
    "grad_extra",
    "mutation",
    "alias",
    "exception",
    "accepts_invalid",
    "exception_class",
    "batch_only",
    "layout",
    "device",
)
REFUSALS = ("missing", "unsupported")


def severity(kind: str) -> int:
    """Return the place of a kind among all kinds, the worst having 0."""
    if kind in KINDS:
        return KINDS.index(kind)
    return len(KINDS) + (1 + REFUSALS.index(kind) if kind in REFUSALS else 0)


@dataclass(frozen=True)
class Divergence:
    """The cases of one test which diverge with one fingerprint: the first of them, and their count."""

    id: str
    fingerprint: str
    target: str
    test: str
    op: str
    phase: str
    kind: str
    level: str
    case_key: str
    message: str
    replay: str
    count: int

    def to_json(self) -> dict[str, object]:
        """Return the fields as plain data."""
        return {
            "id": self.id,
            "fingerprint": self.fingerprint,
            "target": self.target,
            "test": self.test,
            "op": self.op,
            "phase": self.phase,
            "kind": self.kind,
            "level": self.level,
            "case_key": self.case_key,
            "message": self.message,
            "replay": self.replay,
            "count": self.count,
        }


@dataclass(frozen=True)
class Evidence:
    """What shows a divergence: the program, its first diverging line (from 1), the worst elements."""

    program: str | None
    blamed_line: int | None
    worst: tuple[Mapping[str, object], ...]


@dataclass(frozen=True)
class Graph:
    """How many cases were verified in the target's static graph, and why the others were not."""

    verified: int = 0
    backward_verified: int = 0
    off: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)

    @property
    def asked(self) -> int:
        """The cases whose graph check was not switched off."""
        return self.verified + sum(self.skipped.values())


@dataclass(frozen=True)
class SlowTest:
    """A test and its own wall time in seconds."""

    test: str
    seconds: float


@dataclass(frozen=True)
class Summary:
    """Everything the terminal tells about a run; `to_json()` is summary.json.

    `cases` is aligned + divergent + skipped + crashed + timed_out: rejected draws and running cases are not
    cases. `complete` is false where a case or test never ended or a line was damaged. `unexpected` counts
    the divergent, crashed and timed-out cases that known divergences do not explain, `unexpected_tests` the
    tests holding them, and `failed` names the failed tests without one.
    """

    folder: Path
    target: str
    seed: int | None
    environment: Mapping[str, str]
    seconds: float
    tests: int
    aligned: int
    divergent: int
    rejected: int
    skipped: int
    crashed: int
    timed_out: int
    graph: Graph
    skipped_reasons: Mapping[str, int]
    rejected_reasons: Mapping[str, int]
    divergences: tuple[Divergence, ...]
    known: tuple[Divergence, ...]
    evidence: Mapping[str, Evidence]
    unexpected: int
    unexpected_tests: int
    failed: tuple[str, ...]
    running: tuple[str, ...]
    open_tests: tuple[str, ...]
    faults: tuple[str, ...]
    fault_count: int
    damage: tuple[str, ...]
    slowest: tuple[SlowTest, ...]
    matrix: Matrix

    @property
    def cases(self) -> int:
        """The cases which ended with a verdict other than rejected."""
        return self.aligned + self.divergent + self.skipped + self.crashed + self.timed_out

    @property
    def complete(self) -> bool:
        """Whether all that was started ended, and all that was written could be read."""
        return not (self.running or self.open_tests or self.damage)

    def to_json(self) -> dict[str, object]:
        """Return the content of summary.json as plain data; damaged lines stand among `faults`."""
        return {
            "cases": self.cases,
            "aligned": self.aligned,
            "divergent": self.divergent,
            "rejected": self.rejected,
            "skipped": self.skipped,
            "crashed": self.crashed,
            "timed_out": self.timed_out,
            "tests": self.tests,
            "seconds": round(self.seconds, 3),
            "seed": self.seed,
            "graph": {
                "verified": self.graph.verified,
                "backward_verified": self.graph.backward_verified,
                "skipped": dict(self.graph.skipped),
            },
            "environment": dict(self.environment),
            "divergences": [row.to_json() for row in self.divergences],
            "known": [row.to_json() for row in self.known],
            "complete": self.complete,
            "running": list(self.running),
            "faults": [*self.faults, *self.damage],
            "skipped_reasons": dict(self.skipped_reasons),
            "rejected_reasons": dict(self.rejected_reasons),
            "slowest": [{"test": slow.test, "seconds": round(slow.seconds, 3)} for slow in self.slowest],
            "matrix": self.matrix.to_json(),
        }
