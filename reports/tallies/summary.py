"""The summary of a run: counts, divergences and what did not happen, as frozen plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import cast

from reports.folders.repros import Repro
from reports.records.shape import Record
from reports.tallies.argument_space import ArgumentSpace
from reports.tallies.captures import Captures
from reports.tallies.configurations import Configurations
from reports.tallies.coverage import Coverage
from reports.tallies.doubts import OpDoubts
from reports.tallies.inference import Inference
from reports.tallies.layers import Layers
from reports.tallies.matrix import Matrix
from reports.tallies.segments import Segments
from reports.tallies.timeline import Timeline
from reports.tallies.tolerances import Needed


@dataclass(frozen=True)
class Divergence:
    """The cases of one test which diverge with one fingerprint: the first of them, and the keys of all.

    `stages` is how each executor did in the first, where the target lists several; `cause` is what the first says of
    why it raises, without what is its own; empty where nothing is raised.
    """

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
    cases: tuple[str, ...]
    reason: str | None = None
    stages: Mapping[str, str] = field(default_factory=dict)
    cause: str = ""

    @property
    def count(self) -> int:
        """How many cases there are."""
        return len(self.cases)

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
            "reason": self.reason,
            "count": self.count,
            **({"stages": dict(self.stages)} if self.stages else {}),
        }


@dataclass(frozen=True)
class Evidence:
    """What shows a divergence to people.

    Attributes:
        program: the program as text; None where there is none.
        inputs: the program's inputs as lines of Python.
        blamed_line: its first diverging line, from 1.
        facts: rows of a name and what reference, eager target and the target's graph have.
        words: sentences.
        worst: the worst elements.
        heat: the map of errors.
        histogram: pairs of a distance in ULP and a count.
        last_words: what a target said before it died.
        shrunk: the simplest program found, as its record has it; None where nothing was shrunk.
        blame: likewise, which side is wrong.
        whole: what each side has of a small tensor, and where they differ.
        sample: some elements, for plots: the input's value, both sides, what is allowed, and the distance in ULP.
        graph: the program's inputs and calls, the tensors between them, and which of it is wrong.
        losses: of a training: the losses of each side, step by step, and where they part.
    """

    program: str | None = None
    blamed_line: int | None = None
    last_words: str | None = None
    facts: tuple[Sequence[str | None], ...] = ()
    words: tuple[str, ...] = ()
    worst: tuple[Mapping[str, object], ...] = ()
    heat: Mapping[str, object] | None = None
    histogram: tuple[tuple[str, int], ...] | None = None
    shrunk: Mapping[str, object] | None = None
    blame: Mapping[str, object] | None = None
    inputs: tuple[str, ...] = ()
    losses: Mapping[str, object] | None = None
    sample: Mapping[str, object] | None = None
    whole: Mapping[str, object] | None = None
    graph: Mapping[str, object] | None = None

    @classmethod
    def of(cls, record: Record) -> Evidence:
        """Take the evidence of a divergence's record."""
        histogram = record["histogram"]
        return cls(
            record["program"],
            record["blamed_line"],
            record["last_words"],
            tuple(record["facts"]),
            tuple(record["words"]),
            tuple(record["worst"]),
            record["heat"],
            None if histogram is None else tuple((label, count) for label, count in histogram),
            inputs=tuple(record.get("inputs") or ()),
            losses=record.get("losses"),
            sample=record.get("sample"),
            whole=record.get("whole"),
            graph=record.get("graph"),
        )

    def to_json(self) -> dict[str, object]:
        """Return the fields as plain data."""
        return {part.name: getattr(self, part.name) for part in fields(self)}

    @property
    def listing(self) -> str | None:
        """The simplest program known with its inputs above it; None where there is none."""
        program, inputs = self.program, self.inputs
        if self.shrunk and self.shrunk.get("program"):
            program, inputs = str(self.shrunk["program"]), tuple(cast("Sequence[str]", self.shrunk["values"]))
        return None if program is None else "\n".join([*inputs, *([""] if inputs else []), program.rstrip("\n")])


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

    `cases` is aligned + divergent + undecidable + skipped + crashed + timed_out + out_of_memory: rejected draws
    and running cases are not cases. `complete` is false where a case or test never ended, a line was damaged, or the
    run was ended by what `stops` tells.

    Attributes:
        divergences: what makes the run red.
        known: divergences that a ledger explains.
        counted: ops that the target lacks, which their tests only count, or that its table has no row for.
        stricter: what the framework's own harness would not have seen.
        doubts: the ops with undecidable cases; `undecidable_reasons` how many of these cases have which reasons.
        tolerances: what a survey found that ops need.
        loose: sentences about tests that allow far more than that.
        unexpected: the number of cases that diverged, or in which the target ended, with a red divergence.
        unexpected_tests: the tests that hold them.
        failed: the names of the failed tests without a red divergence, or that raised something besides.
        errors: what such tests raised, as far as that is known, by test.
        traces: the tracebacks of those that raised no sentence of ours, by test.
        confirmed: the number of remembered cases that align now.
        forgotten: what was wrong with remembered cases.
        lacks: the aspects that the target does not have, so that no case was held to them.
        selection: what chose the tests, such as `suites -k matmul`; None where a run has not said so.
        outcomes, seconds_by_test, lines: by test, its outcome (passed, failed, skipped), its seconds, its first line.
        repros: by the ids of divergences.
    """

    folder: Path
    target: str
    devices: tuple[str, ...]
    lacks: tuple[str, ...]
    seed: int | None
    environment: Mapping[str, str]
    command: str
    inputs: str | None
    commit: str | None
    path: str | None
    selection: str | None
    started: float | None
    seconds: float
    tests: int
    aligned: int
    divergent: int
    undecidable: int
    rejected: int
    skipped: int
    crashed: int
    timed_out: int
    out_of_memory: int
    graph: Graph
    skipped_reasons: Mapping[str, int]
    rejected_reasons: Mapping[str, int]
    divergences: tuple[Divergence, ...]
    known: tuple[Divergence, ...]
    counted: tuple[Divergence, ...]
    stricter: tuple[Divergence, ...]
    evidence: Mapping[str, Evidence]
    unexpected: int
    unexpected_tests: int
    failed: tuple[str, ...]
    running: tuple[str, ...]
    open_tests: tuple[str, ...]
    stops: tuple[str, ...]
    faults: tuple[str, ...]
    fault_count: int
    damage: tuple[str, ...]
    slowest: tuple[SlowTest, ...]
    outcomes: Mapping[str, str]
    seconds_by_test: Mapping[str, float]
    lines: Mapping[str, int]
    matrix: Matrix
    coverage: Coverage
    doubts: tuple[OpDoubts, ...]
    tolerances: tuple[Needed, ...]
    loose: tuple[str, ...]
    undecidable_reasons: Mapping[str, int] = field(default_factory=dict)
    #: Each case in one of them.
    segments: Segments = field(default_factory=Segments)
    space: ArgumentSpace = field(default_factory=ArgumentSpace)
    #: Cases that were compared without the values that depend on random numbers.
    random: int = 0
    errors: Mapping[str, str] = field(default_factory=dict)
    traces: Mapping[str, str] = field(default_factory=dict)
    confirmed: int = 0
    forgotten: tuple[str, ...] = ()
    repros: Mapping[str, Repro] = field(default_factory=dict)
    #: Of the target, or of each executor that it lists; none where it does not tell.
    captures: tuple[Captures, ...] = ()
    inference: Inference = field(default_factory=Inference)
    #: Which process was at which test when.
    timeline: Timeline = field(default_factory=Timeline)
    #: Of static graphs; of none where none were asked for.
    configurations: Configurations = field(default_factory=Configurations)
    #: Of cases with layers; of none where their functions were not asked for.
    lowered: Layers = field(default_factory=Layers)

    @property
    def cases(self) -> int:
        """The cases which ended with a verdict other than rejected."""
        ended = self.crashed + self.timed_out + self.out_of_memory
        return self.aligned + self.divergent + self.undecidable + self.skipped + ended

    @property
    def all_divergences(self) -> tuple[Divergence, ...]:
        """Those of every level, the red ones first."""
        return (*self.divergences, *self.stricter, *self.counted, *self.known)

    @property
    def failures(self) -> tuple[str, ...]:
        """These failed tests, each with what it raised: `t.py::test_a: ValueError: no`."""
        return tuple(f"{test}: {self.errors[test]}" if test in self.errors else test for test in self.failed)

    @property
    def failed_title(self) -> str:
        """What stands above the failed tests."""
        besides = {row.test for row in self.divergences} & {*self.failed}
        return "Failed otherwise" if besides else "Failed without a divergence"

    @property
    def programs(self) -> dict[str, str]:
        """By fingerprint, the simplest program known with its inputs."""
        listings = {fingerprint: evidence.listing for fingerprint, evidence in self.evidence.items()}
        return {fingerprint: listing for fingerprint, listing in listings.items() if listing is not None}

    def _captures(self) -> dict[str, object]:
        """Those of the target, or of each executor by its name."""
        every: dict[str, object] = {captures.executor: captures.to_json() for captures in self.captures}
        return self.captures[0].to_json() if [*every] == [""] else every

    def _red(self, row: Divergence) -> dict[str, object]:
        """A row of `divergences`: also which side is wrong, and of a training its losses."""
        evidence = self.evidence.get(row.fingerprint, Evidence())
        losses = {} if evidence.losses is None else {"losses": dict(evidence.losses)}
        return {**row.to_json(), "blame": None if evidence.blame is None else dict(evidence.blame), **losses}

    @property
    def complete(self) -> bool:
        """Whether all that was started ended, and all that was written could be read."""
        return not (self.running or self.open_tests or self.damage or self.stops)

    def lacking(self, kind: str) -> set[str]:
        """The ops that are only counted as of this kind, one of REFUSALS."""
        return {row.op for row in self.counted if row.kind == kind}

    def to_json(self) -> dict[str, object]:
        """Return the content of summary.json as plain data; damaged lines stand among `faults`."""
        return {
            "cases": self.cases,
            "aligned": self.aligned,
            "divergent": self.divergent,
            "undecidable": self.undecidable,
            "rejected": self.rejected,
            "skipped": self.skipped,
            "crashed": self.crashed,
            "timed_out": self.timed_out,
            "out_of_memory": self.out_of_memory,
            "segments": self.segments.to_json(),
            "tests": self.tests,
            "seconds": round(self.seconds, 3),
            "seed": self.seed,
            "inputs": self.inputs,
            "random": self.random,
            "graph": {
                "verified": self.graph.verified,
                "backward_verified": self.graph.backward_verified,
                "skipped": dict(self.graph.skipped),
            },
            **({"captures": self._captures()} if self.captures else {}),
            **({"configurations": self.configurations.to_json()} if self.configurations.asked else {}),
            **({"lowered": self.lowered.to_json()} if self.lowered.asked else {}),
            "target": self.target,
            "devices": list(self.devices),
            "lacks": list(self.lacks),
            "environment": dict(self.environment),
            "command": self.command,
            "commit": self.commit,
            "path": self.path,
            "selection": self.selection,
            "started": self.started,
            "divergences": [self._red(row) for row in self.divergences],
            "known": [row.to_json() for row in self.known],
            "counted": [row.to_json() for row in self.counted],
            "stricter": [row.to_json() for row in self.stricter],
            "programs": self.programs,
            "outcomes": dict(self.outcomes),
            "errors": dict(self.errors),
            "complete": self.complete,
            "running": list(self.running),
            "stops": list(self.stops),
            "faults": [*self.faults, *self.damage],
            "skipped_reasons": dict(self.skipped_reasons),
            "rejected_reasons": dict(self.rejected_reasons),
            "remembered": {"aligned": self.confirmed, "problems": list(self.forgotten)},
            "slowest": [{"test": slow.test, "seconds": round(slow.seconds, 3)} for slow in self.slowest],
            "undecidable_reasons": dict(self.undecidable_reasons),
            "doubts": [row.to_json() for row in self.doubts],
            **({"inference": self.inference.to_json()} if self.inference.told else {}),
            "loose": list(self.loose),
            "laid_out": asdict(self.space.laid_out),
            "matrix": self.matrix.to_json(),
            **({"repros": {id_: repro.words for id_, repro in self.repros.items()}} if self.repros else {}),
        }
