"""The tally: one pass over a run's records which ends in its Summary."""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from reports.folders.repros import load_repros
from reports.records.kinds import severity
from reports.records.run import Damage, Run, records_beside
from reports.records.shape import ENDS, LEVELS, RED_LEVELS, ROW_TEXTS, Record
from reports.tallies.argument_space import ArgumentSpaceTally
from reports.tallies.captures import Captures
from reports.tallies.configurations import Configurations
from reports.tallies.coverage import CoverageTally
from reports.tallies.doubts import DoubtTally
from reports.tallies.inference import InferenceTally
from reports.tallies.layers import Layers
from reports.tallies.matrix import MatrixTally
from reports.tallies.segments import SegmentTally
from reports.tallies.summary import Divergence, Evidence, Graph, SlowTest, Summary
from reports.tallies.timeline import TimelineTally
from reports.tallies.tolerances import ToleranceTally

# Reasons and faults may hold a case's own numbers: past these, memory would grow with the cases.
MOST_REASONS = 500
MOST_SENTENCES = 100
SLOWEST = 10
_SHARD = re.compile(r" --shard \d+/\d+$")
#: How a test may end, the worst first.
OUTCOMES = ("failed", "passed", "skipped")


def summarize(run: Run) -> Summary:
    """Return the summary of a run, reading each record once.

    Memory grows with the tests, the distinct (fingerprint, test) pairs and the keys of divergent cases, not with the
    others. The result does not depend on how the tests were shared among workers. Raises what Run.lines raises.
    """
    tally = _Tally(run.folder)
    for path, line in run.lines():
        if isinstance(line, Damage):
            tally.damage.add(str(line))
        else:
            tally.take(path, line)
    return tally.summary()


@lru_cache
def follows(path: Path) -> bool:
    """Whether a file is that of a further rank: what it ran, the first rank's file counts."""
    return re.fullmatch(r"records-rank[1-9]\d*\.jsonl", path.name) is not None


class _Reasons:
    """Counts by reason, of a bounded number of reasons."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, reason: str) -> None:
        known = reason in self._counts or len(self._counts) < MOST_REASONS
        self._counts[reason if known else "further reasons"] += 1

    def commonest(self) -> dict[str, int]:
        return dict(sorted(self._counts.items(), key=lambda item: (-item[1], item[0])))


class _CaptureTally:
    """How cases have come into the graphs of one executor."""

    def __init__(self) -> None:
        self._outcomes: Counter[str] = Counter()
        self._reasons = _Reasons()

    def add(self, outcome: str, reason: str) -> None:
        self._outcomes[outcome] += 1
        if reason:
            self._reasons.add(reason)

    def captures(self, executor: str) -> Captures:
        return Captures(dict(self._outcomes), self._reasons.commonest(), executor)


class _ConfigurationTally:
    """Under which configurations the graphs of cases were verified."""

    def __init__(self) -> None:
        self._asked: Counter[str] = Counter()
        self._verified: Counter[str] = Counter()
        self._reasons = _Reasons()

    def add(self, name: str, check: str) -> None:
        if check == "nothing":  # of modules, which the case has not
            return
        self._asked[name] += 1
        if check == "verified":
            self._verified[name] += 1
        else:
            self._reasons.add(f"{name}: {check}")

    def configurations(self) -> Configurations:
        return Configurations(dict(self._asked), dict(self._verified), self._reasons.commonest())


class _LayersTally:
    """What became of layers as the functions that they call."""

    def __init__(self) -> None:
        self._verified = 0
        self._reasons = _Reasons()

    def add(self, check: str) -> None:
        if check == "verified":
            self._verified += 1
        else:
            self._reasons.add(check)

    def layers(self) -> Layers:
        return Layers(self._verified, self._reasons.commonest())


class _Sentences:
    """The first sentences of their kind, and how many more there were."""

    def __init__(self) -> None:
        self._first: list[str] = []
        self.count = 0

    def add(self, sentence: str) -> None:
        self.count += 1
        if len(self._first) < MOST_SENTENCES:
            self._first.append(sentence)

    def all(self) -> tuple[str, ...]:
        more = self.count - len(self._first)
        return (*self._first, f"and {more:,} more") if more else tuple(self._first)


class _Tally:
    """The counts so far."""

    def __init__(self, folder: Path) -> None:
        self.damage = _Sentences()
        self._folder = folder
        self._target = ""
        self._devices: dict[str, None] = {}
        self._lacks: dict[str, None] = {}
        self._seed: int | None = None
        self._inputs: str | None = None
        self._command = ""
        self._commit: str | None = None
        self._path: str | None = None
        self._selections: dict[str, None] = {}
        self._environment: dict[str, str] = {}
        self._first: float | None = None
        self._last = 0.0
        self._verdicts: Counter[str] = Counter()
        self._verified = 0
        self._backward_verified = 0
        self._graph_off = 0
        self._random = 0
        self._graph_skipped = _Reasons()
        #: By executor where the target lists several, else under no name.
        self._captures: dict[str, _CaptureTally] = {}
        self._configurations = _ConfigurationTally()
        self._lowered = _LayersTally()
        self._skipped = _Reasons()
        self._rejected = _Reasons()
        # Keyed by file too: two test files of one name in different folders share their case keys.
        self._running: dict[tuple[Path, str, str], str] = {}
        #: Tests in which a process ended, by its file: nothing of them is running.
        self._lost: set[tuple[Path, str]] = set()
        self._tests: dict[str, float | None] = {}
        self._outcomes: dict[str, str] = {}
        self._lines: dict[str, int] = {}
        self._errors: dict[str, str] = {}
        self._traces: dict[str, str] = {}
        self._unexpected: Counter[str] = Counter()
        self._rows: dict[tuple[str, str, str], tuple[Record, dict[str, None]]] = {}
        self._evidence: dict[str, tuple[bool, str, Evidence]] = {}
        self._minimal: dict[str, tuple[tuple[bool, str], Mapping[str, object]]] = {}
        self._blames: dict[str, tuple[tuple[bool, str], Mapping[str, object]]] = {}
        self._confirmed = 0
        self._forgotten = _Sentences()
        self._faults = _Sentences()
        self._stops: dict[str, None] = {}
        self._segments = SegmentTally()
        self._matrix = MatrixTally()
        self._coverage = CoverageTally()
        self._space = ArgumentSpaceTally()
        self._doubts = DoubtTally()
        self._tolerances = ToleranceTally()
        self._inference = InferenceTally()
        self._timeline = TimelineTally()

    def take(self, path: Path, record: Record) -> None:
        """Count one record."""
        moment = record.get("time")
        if moment is not None:
            self._first = moment if self._first is None else min(self._first, moment)
            self._last = max(self._last, moment)
        self._timeline.take(path, record)
        kind = record["type"]
        first = not follows(path)
        if kind == "start":
            if first:
                self._tests.setdefault(record["test"], None)
            self._running[path, record["test"], record["key"]] = record["key"]
        elif kind == "end":
            self._running.pop((path, record["test"], record["key"]), None)
            if first:
                self._end(record)
        elif kind == "left_out":
            self._running.pop((path, record["test"], record["key"]), None)
        elif kind == "reached":
            if first:
                self._space.take(record)
        elif kind == "inferred":
            if first:
                self._inference.take(record)
        elif kind == "test":
            self._test(path, record)
        elif kind == "fault":
            where = "" if record["test"] is None else f"{record['test']}: "
            self._faults.add(where + record["message"])
        elif kind == "stop":
            self._stops[record["message"]] = None
        elif kind == "tolerance":
            self._tolerances.take(record)
        elif kind == "shrunk":
            self._shrunk(record)
        elif kind == "blame":
            self._blame(record)
        elif kind == "remembered":
            self._confirmed += record["aligned"]
            for problem in record["problems"]:
                self._forgotten.add(problem)
        elif kind == "surface":
            self._coverage.surface(record)
        elif kind == "target":
            self._versions(record)
            self._devices.update(dict.fromkeys(record["devices"]))
            self._lacks.update(dict.fromkeys(record.get("lacks", ())))
        elif kind == "run":
            self._run(record)
        # What was drawn `ahead` says something of a process that ended, and nothing of a test.

    def _run(self, record: Record) -> None:
        """What a worker's first record says of the run: that of the first worker counts."""
        self._versions(record)
        self._target = self._target or record["target"]
        self._seed = record["seed"] if self._seed is None else self._seed
        self._inputs = self._inputs or record.get("inputs")
        self._command = self._command or record["command"]
        self._commit = self._commit or record["commit"]
        self._path = self._path or record["path"]
        if record.get("selection") is not None:
            self._selections[record["selection"]] = None

    def _versions(self, record: Record) -> None:
        for name, version in record["environment"].items():
            self._environment.setdefault(name, version)

    def _test(self, path: Path, record: Record) -> None:
        test = record["test"]
        if not follows(path):
            self._tests[test] = (self._tests.get(test) or 0.0) + record["seconds"]
        # A body that raised leaves its case open; the test has ended, so nothing of it is running.
        for open_case in [key for key in self._running if key[:2] == (path, test)]:
            del self._running[open_case]
        if record.get("process"):
            self._lost.add((records_beside(path, record["process"]), test))
        # A test that a rerun repeats keeps its worst outcome.
        held = self._outcomes.get(test, "skipped")
        self._outcomes[test] = min(held, record["outcome"], key=OUTCOMES.index)
        if record["line"] is not None:
            self._lines[test] = record["line"]
        if record.get("error"):
            self._errors[test] = record["error"]
        if record.get("trace"):
            self._traces[test] = record["trace"]

    def _end(self, record: Record) -> None:
        verdict, test = record["verdict"], record["test"]
        self._verdicts[verdict] += 1
        self._tests.setdefault(test, None)
        self._coverage.case(record, self._matrix.take(record))
        self._segments.take(record)
        self._doubts.take(record)
        if verdict == "rejected":
            self._rejected.add(record.get("reason") or "no reason given")
        elif verdict == "skipped":
            self._skipped.add(record.get("reason") or "no reason given")
        graph = record.get("graph")
        if graph is not None:
            self._graph(graph)
        rows = record["divergences"]
        for row in rows:  # a rejected draw has some where the target does not refuse it as well
            self._row(row)
        # A case none of whose divergences is red is expected; a crash without a row is not.
        if (verdict == "divergent" or verdict in ENDS) and not (
            rows and all(row["level"] not in RED_LEVELS for row in rows)
        ):
            self._unexpected[test] += 1

    def _graph(self, graph: Mapping[str, Any]) -> None:
        forward = graph["forward"]
        if forward == "verified":
            self._verified += 1
        elif forward == "off":
            self._graph_off += 1
        else:
            self._graph_skipped.add(forward)
        captures = graph.get("captures", {})
        if "capture" in graph:
            captures = {"": [graph["capture"], graph.get("capture_reason", "")]}
        for name, (outcome, reason) in captures.items():
            self._captures.setdefault(name, _CaptureTally()).add(outcome, reason)
        for name, check in graph.get("configurations", {}).items():
            self._configurations.add(name, check)
        if "lowered" in graph:
            self._lowered.add(graph["lowered"])
        self._backward_verified += graph["backward"] == "verified"
        self._random += "random" in graph

    def _row(self, row: Record) -> None:
        fingerprint, test, red = row["fingerprint"], row["test"], row["level"] in RED_LEVELS
        _, cases = self._rows.setdefault((fingerprint, test, row["level"]), (row, {}))
        # Two calls of one case may show the same fingerprint: it is one case.
        cases[row["case_key"]] = None
        evidence = row["evidence"]
        if evidence is None:
            return
        # One program per fingerprint is enough to show: that of a red case before any other, and of the alphabetically
        # first test, whatever the workers.
        earlier = self._evidence.get(fingerprint)
        if earlier is None or (not red, test) < earlier[:2]:
            self._evidence[fingerprint] = (not red, test, Evidence.of(evidence))

    def _shrunk(self, record: Record) -> None:
        """Keep one result per fingerprint, a program before none: that of the alphabetically first test."""
        shrunk = record["shrunk"]
        rank = shrunk["program"] is None, record["test"]
        held = self._minimal.get(record["fingerprint"])
        if held is None or rank < held[0]:
            self._minimal[record["fingerprint"]] = rank, shrunk

    def _blame(self, record: Record) -> None:
        """Keep one verdict per fingerprint, one that was judged before any other: as above."""
        rank = record["blame"]["verdict"] == "not judged", record["test"]
        held = self._blames.get(record["fingerprint"])
        if held is None or rank < held[0]:
            self._blames[record["fingerprint"]] = rank, record["blame"]

    def _completed(self, fingerprint: str, evidence: Evidence) -> Evidence:
        """The evidence of a fingerprint with what later records told of it: the shrunk program, and which side is
        wrong.
        """
        shrunk, blame = self._minimal.get(fingerprint), self._blames.get(fingerprint)
        evidence = evidence if shrunk is None else replace(evidence, shrunk=shrunk[1])
        return evidence if blame is None else replace(evidence, blame=blame[1])

    def _divergences(self) -> list[Divergence]:
        divergences = []
        for (_, _, level), (row, cases) in self._rows.items():
            texts = {name: row[name] for name in ROW_TEXTS}
            divergences.append(
                Divergence(
                    **texts,
                    level=level,
                    reason=row["reason"],
                    stages=row.get("stages") or {},
                    cause=row.get("cause") or "",
                    cases=tuple(cases),
                )
            )
        return sorted(divergences, key=lambda row: (severity(row.kind), row.fingerprint, row.test))

    def _selection(self) -> str | None:
        """What was selected; of merged shards, what they are shares of."""
        if len(self._selections) > 1:
            self._selections = dict.fromkeys(_SHARD.sub("", selection) for selection in self._selections)
        return next(iter(self._selections), None)

    def summary(self) -> Summary:
        """Return what was counted."""
        rows = self._divergences()
        divergences = tuple(row for row in rows if row.level in RED_LEVELS)
        by_level = {level: tuple(row for row in rows if row.level == level) for level in LEVELS}
        failed = {test for test, outcome in self._outcomes.items() if outcome == "failed"}
        diverged = {row.test for row in divergences} | set(self._unexpected)
        # What a test raised besides is told, too.
        otherwise = {test for test in failed if test not in diverged or test in self._errors}
        timed = [(seconds, test) for test, seconds in self._tests.items() if seconds]
        slowest = heapq.nsmallest(SLOWEST, timed, key=lambda item: (-item[0], item[1]))
        return Summary(
            folder=self._folder,
            target=self._target or "the target",
            seed=self._seed,
            inputs=self._inputs,
            devices=tuple(self._devices),
            lacks=tuple(self._lacks),
            environment=dict(sorted(self._environment.items())),
            command=self._command,
            commit=self._commit,
            path=self._path,
            selection=self._selection(),
            started=self._first,
            seconds=0.0 if self._first is None else self._last - self._first,
            tests=len(self._tests),
            aligned=self._verdicts["aligned"],
            divergent=self._verdicts["divergent"],
            undecidable=self._verdicts["undecidable"],
            rejected=self._verdicts["rejected"],
            skipped=self._verdicts["skipped"],
            crashed=self._verdicts["crashed"],
            timed_out=self._verdicts["timed_out"],
            out_of_memory=self._verdicts["out_of_memory"],
            graph=Graph(self._verified, self._backward_verified, self._graph_off, self._graph_skipped.commonest()),
            captures=tuple(tally.captures(executor) for executor, tally in self._captures.items()),
            configurations=self._configurations.configurations(),
            lowered=self._lowered.layers(),
            skipped_reasons=self._skipped.commonest(),
            rejected_reasons=self._rejected.commonest(),
            divergences=divergences,
            known=by_level["known"],
            counted=by_level["counted"],
            stricter=by_level["stricter"],
            evidence={name: self._completed(name, evidence) for name, (_, _, evidence) in self._evidence.items()},
            unexpected=self._unexpected.total(),
            unexpected_tests=len(diverged),
            failed=tuple(sorted(otherwise)),
            errors={test: self._errors[test] for test in sorted(otherwise) if test in self._errors},
            traces={test: self._traces[test] for test in sorted(otherwise) if test in self._traces},
            running=tuple(sorted(case for key, case in self._running.items() if key[:2] not in self._lost)),
            open_tests=tuple(sorted(test for test, seconds in self._tests.items() if seconds is None)),
            stops=tuple(self._stops),
            faults=self._faults.all(),
            fault_count=self._faults.count,
            damage=self.damage.all(),
            slowest=tuple(SlowTest(test, seconds) for seconds, test in slowest),
            outcomes=dict(sorted(self._outcomes.items())),
            seconds_by_test={test: seconds for test, seconds in sorted(self._tests.items()) if seconds is not None},
            lines=dict(sorted(self._lines.items())),
            segments=self._segments.segments(),
            matrix=self._matrix.matrix(),
            coverage=self._coverage.coverage(),
            space=self._space.space(),
            doubts=self._doubts.doubts(),
            undecidable_reasons=self._doubts.reasons(),
            tolerances=self._tolerances.needed(),
            loose=self._tolerances.warnings(),
            inference=self._inference.inference(),
            timeline=self._timeline.timeline(),
            random=self._random,
            confirmed=self._confirmed,
            forgotten=self._forgotten.all(),
            repros=load_repros(self._folder),
        )
