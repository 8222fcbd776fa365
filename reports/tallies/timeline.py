"""The timeline: which test each process of a run was at when, and what happened meanwhile."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from reports.records.shape import ENDS, Record

#: So many marks of a run are kept: one that crashes in each case is not drawn any better by all of them.
MOST_MARKS = 2000


class Bar(NamedTuple):
    """A test, or a mark in one: its name, when it began, in seconds of the run's clock, and how long it took.

    A mark has for its name how a target ended (`crashed`, after which it is started again), or `shrunk` or `judged`.
    """

    name: str
    start: float
    seconds: float


@dataclass(frozen=True)
class Lane:
    """What one process did; `open` is its test that never ended, up to its last record."""

    worker: str
    tests: tuple[Bar, ...]
    marks: tuple[Bar, ...]
    open: Bar | None = None


@dataclass(frozen=True)
class Timeline:
    """The lanes by worker; times are seconds since the first record, `seconds` is when the last was written.

    `more` is how many marks were left out.
    """

    lanes: tuple[Lane, ...] = ()
    seconds: float = 0.0
    more: int = 0

    def to_page(self) -> dict[str, object]:
        """Return what the report's timeline.js has of it."""
        return {
            "seconds": round(self.seconds, 2),
            "more": self.more,
            "lanes": [
                {
                    "worker": lane.worker,
                    "tests": [_row(bar) for bar in lane.tests],
                    "marks": [_row(bar) for bar in lane.marks],
                    "open": None if lane.open is None else _row(lane.open),
                }
                for lane in self.lanes
            ],
        }


def _row(bar: Bar) -> list[object]:
    return [bar.name, round(bar.start, 2), round(bar.seconds, 2)]


@dataclass
class _Drawn:
    """A lane so far, in epoch seconds."""

    tests: list[Bar] = field(default_factory=list)
    marks: list[Bar] = field(default_factory=list)
    began: dict[str, float] = field(default_factory=dict)
    last: float = 0.0


class TimelineTally:
    """Counts records into a Timeline; memory grows with the tests, and with marks up to a bound."""

    def __init__(self) -> None:
        self._lanes: defaultdict[Path, _Drawn] = defaultdict(_Drawn)
        self._first: float | None = None
        self._marks = 0
        self._more = 0

    def take(self, path: Path, record: Record) -> None:
        """Count one record of a worker's file; one without a time says nothing of it."""
        moment = record.get("time")
        if moment is None:
            return
        lane, kind = self._lanes[path], record["type"]
        lane.last = max(lane.last, moment)
        began = moment
        if kind == "start":
            lane.began.setdefault(record["test"], moment)
        elif kind == "test":
            began = moment - record["seconds"]
            lane.tests.append(Bar(record["test"], began, record["seconds"]))
            lane.began.pop(record["test"], None)
        elif kind == "end" and record["verdict"] in ENDS:
            self._mark(lane, Bar(record["verdict"], moment, 0.0))
        elif kind == "shrunk":
            seconds = record["shrunk"]["seconds"]
            self._mark(lane, Bar("shrunk", moment - seconds, seconds))
        elif kind == "blame":
            self._mark(lane, Bar("judged", moment, 0.0))
        self._first = began if self._first is None else min(self._first, began)

    def _mark(self, lane: _Drawn, bar: Bar) -> None:
        if self._marks == MOST_MARKS:
            self._more += 1
            return
        self._marks += 1
        lane.marks.append(bar)

    def timeline(self) -> Timeline:
        """Return what was counted; a process that ran no test has no lane."""
        first = self._first or 0.0
        lanes = []
        for path, lane in sorted(self._lanes.items(), key=lambda item: (len(item[0].name), item[0].name)):
            tests, marks = (tuple(_since(first, bar) for bar in bars) for bars in (lane.tests, lane.marks))
            began = [Bar(test, start - first, lane.last - start) for test, start in lane.began.items()]
            if tests or began:
                worker = path.name.removeprefix("records-").removesuffix(".jsonl")
                lanes.append(Lane(worker, tests, marks, began[-1] if began else None))
        last = max((lane.last for lane in self._lanes.values()), default=first)
        return Timeline(tuple(lanes), last - first, self._more)


def _since(first: float, bar: Bar) -> Bar:
    return bar._replace(start=bar.start - first)
