"""The log of a campaign: which rounds were decided, and what came of those that are done. A line of JSON each.

A round is done when its line is there, and not before: what an interrupted one has left in the run's folder is taken
away, and it runs again. The same seed and the same decisions give the same cases.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field
from pathlib import Path
from typing import Any

from autotest.errors import UsageError
from reports import RecordError

NAME = "log.jsonl"
VERSION = 4
#: Cases of a visit at most: what the target is handed at once.
VISIT = 20
#: Draws of the next visit begin so much further on: of VISIT cases all but one may be refused, and the number shares no
#: divisor with how many items a test lists.
STRIDE = 401


def function_of(test: str) -> str:
    """The function of a test: its node id without parameters."""
    return test.partition("[")[0]


@dataclass(frozen=True, slots=True)
class Visit:
    """One test of a round, how often the campaign has come to it before, and how many cases it has: first those of its
    laid-out cases that are numbered from `laid_out[0]` to below `laid_out[1]`, then drawn ones; None: drawn ones alone.
    """

    test: str
    turn: int
    cases: int
    laid_out: tuple[int, int] | None = None

    @property
    def options(self) -> dict[str, Any]:
        """What its run is asked for."""
        return {"first": self.turn * STRIDE, "cases": self.cases, "laid_out": self.laid_out or (0, 0)}


@dataclass(frozen=True, slots=True)
class Round:
    """Visits that one process runs one after the other; `number` counts from 0."""

    number: int
    visits: tuple[Visit, ...]

    @property
    def worker(self) -> str:
        """What its files in the run's folder are called by."""
        return f"r{self.number}"


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a round.

    Attributes:
        cases: by verdict.
        costs: of each test how much it took, in cases of one eager call.
        laid_out: the tests of which laid-out cases may be left.
        found: of each test the red fingerprints that it showed, by id.
        cells: of each test those of its tensors, each by a short digest, where a campaign is steered by them.
        looked: ids of those that have had their closer look.
        cpu, look: seconds of computing, of all its processes; and of the closer looks.
        faults: of the harness.
    """

    cases: Mapping[str, int] = field(default_factory=dict)
    costs: Mapping[str, int] = field(default_factory=dict)
    laid_out: Sequence[str] = ()
    found: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    looked: Sequence[str] = ()
    cells: Mapping[str, Sequence[str]] = field(default_factory=dict)
    cpu: float = 0.0
    look: float = 0.0
    faults: int = 0


class Log:
    """The log in a campaign's folder.

    Attributes:
        begun: what the campaign was begun with: its run's folder, identity, tests and lag; None before that.
        rounds: those that were decided, in order; `done`: what came of them, by number; `avoided`: of each the keys of
            cases and tests that it leaves out, with what they do.
        drawn: the cases that these rounds draw.
        seconds: how long all its sittings have taken.
    """

    def __init__(self, folder: Path) -> None:
        """Read what is there. Raises UsageError for a file that is no log of this version, RecordError where it cannot
        be read.
        """
        self.path = folder / NAME
        self.begun: Mapping[str, Any] | None = None
        self.rounds: list[Round] = []
        self.drawn = 0
        self.done: dict[int, Done] = {}
        self.avoided: dict[int, dict[str, str]] = defaultdict(dict)
        self.seconds = 0.0
        #: The bytes of whole lines: what a sitting that was killed has half written is written over.
        self._whole = 0
        self._descriptor: int | None = None
        self._read()

    def _read(self) -> None:
        try:
            raw = self.path.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise RecordError(f"{self.path} cannot be read: {error.strerror}; check its permissions") from error
        for number, line in enumerate(raw.splitlines(keepends=True), 1):
            if not line.endswith(b"\n"):
                break
            try:
                self._take(json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                raise UsageError(
                    f"{self.path}:{number} is no line of a campaign's log ({type(error).__name__}: {error}); "
                    "begin another campaign in a new folder [--folder]"
                ) from None
            self._whole += len(line)

    def _take(self, line: Mapping[str, Any]) -> None:
        if "version" in line:
            if line["version"] != VERSION:
                raise ValueError(f"version {line['version']!r}, but should be {VERSION}")
            self.begun = line
        elif "round" in line:
            visits = tuple(
                Visit(test, turn, cases, laid_out and (laid_out[0], laid_out[1]))
                for test, turn, cases, laid_out in line["visits"]
            )
            self.rounds.append(Round(line["round"], visits))
            self.drawn += sum(visit.cases for visit in visits)
        elif "avoid" in line:
            self.avoided[line["of"]][line["avoid"]] = line["how"]
        elif "done" in line:
            came = line["came"]
            told: dict[str, Any] = {name: tuple(came[name]) for name in ("laid_out", "looked")}
            self.done[line["done"]] = Done(**{**came, **told})
        self.seconds = line.get("seconds", self.seconds)

    def written(self) -> set[int]:
        """The numbers of the rounds that are done, as the file has it. Raises as when the log is first read."""
        return {*Log(self.path.parent).done}

    def begin(self, run: Path, identity: Mapping[str, Any], tests: Mapping[str, int], lag: int) -> None:
        """Note what the campaign is; a round is decided by what came of those up to `lag` before it."""
        what = {"run": run.name, "identity": dict(identity), "tests": dict(tests), "lag": lag}
        self._write({"version": VERSION, **what})

    def decide(self, round_: Round) -> None:
        """Note a round that is to run."""
        self._write({"round": round_.number, "visits": [[*astuple(visit)] for visit in round_.visits]})

    def avoid(self, number: int, key: str, how: str) -> None:
        """Note a case, or a test, that a round leaves out when it runs again, and why."""
        self._write({"avoid": key, "of": number, "how": how})

    def end(self, number: int, done: Done, seconds: float) -> None:
        """Note that a round is done, so many seconds into the campaign."""
        self._write({"done": number, "came": asdict(done), "seconds": round(seconds, 3)})

    def _write(self, line: dict[str, Any]) -> None:
        """Append a line, which is on the disk when this returns. Raises RecordError where it cannot be."""
        raw = json.dumps(line).encode("ascii") + b"\n"
        try:
            if self._descriptor is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
                os.ftruncate(self._descriptor, self._whole)
                os.lseek(self._descriptor, 0, os.SEEK_END)
            view = memoryview(raw)
            while view:
                view = view[os.write(self._descriptor, view) :]
            os.fsync(self._descriptor)
        except OSError as error:
            raise RecordError(
                f"{self.path} cannot be written: {error.strerror}; free the disk, and the campaign goes on"
            ) from error
        self._take(json.loads(raw))

    def close(self) -> None:
        """Close the file; closing twice is allowed."""
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            os.close(descriptor)


__all__ = ["NAME", "STRIDE", "VISIT", "Done", "Log", "Round", "Visit", "function_of"]
