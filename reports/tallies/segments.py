"""The segments of a run: every case is in exactly one of them, so that their numbers add up to the cases."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from reports.records.kinds import DEADLY, REFUSALS, severity
from reports.records.shape import ENDS, LEVELS, RED_LEVELS, Record

#: In the order in which they are told.
SEGMENTS = ("aligned", "undecidable", "known", "counted", "stricter", "new", "skipped")
#: How a case of a segment diverges, the worst first.
WAYS = ("crashed", "wrong", "refuses")


def segment_of(record: Record) -> tuple[str, str] | None:
    """Return the segment that the `end` record of a case puts it in, and the way in which it diverges, or "".

    The worst level of its divergences decides, the worst kind among those of that level is the way. A case that
    diverges, or in which the target ended, without a divergence to tell is new. A rejected draw is no case: None.
    """
    verdict = record["verdict"]
    if verdict == "rejected":
        return None
    if verdict != "divergent" and verdict not in ENDS:
        return verdict, ""
    rows = record["divergences"]
    if not rows:
        return "new", "crashed" if verdict in ENDS else "wrong"
    levels = [level for level in LEVELS if any(row["level"] == level for row in rows)]
    worst = levels[0]
    # What is red is so by either of two levels, which together are the segment of what is new.
    together = RED_LEVELS if worst in RED_LEVELS else (worst,)
    kind = min((row["kind"] for row in rows if row["level"] in together), key=severity)
    way = "crashed" if kind in DEADLY else "refuses" if kind in REFUSALS else "wrong"
    return "new" if worst in RED_LEVELS else worst, way


@dataclass(frozen=True)
class Segments:
    """How many cases there are of each segment, and in those that diverge of each way.

    `tests` has the cases of each test by segment and way: together they are those of the run.
    """

    cases: Mapping[str, int] = field(default_factory=dict)
    ways: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    tests: Mapping[str, Mapping[tuple[str, str], int]] = field(default_factory=dict)

    @property
    def places(self) -> list[tuple[str, str]]:
        """The segments that have cases, each with the ways that its cases have, as they are told."""
        return [(name, way) for name in SEGMENTS if self.cases.get(name) for way in self.ways.get(name, ("",))]

    def words(self, name: str) -> str:
        """How the cases of a segment diverge: `38 wrong, 3 crashed`, or `all wrong`; nothing where they do not."""
        ways = sorted(self.ways.get(name, {}).items(), key=lambda item: -item[1])
        if len(ways) == 1:
            [(way, count)] = ways
            return f"all {way}" if count > 1 else way
        return ", ".join(f"{count:,} {way}" for way, count in ways)

    def to_json(self) -> dict[str, object]:
        """Return the counts of the run as plain data."""
        return {"cases": dict(self.cases), "ways": {name: dict(ways) for name, ways in self.ways.items()}}


class SegmentTally:
    """Counts `end` records into Segments."""

    def __init__(self) -> None:
        self._tests: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)

    def take(self, record: Record) -> None:
        """Count one case."""
        place = segment_of(record)
        if place is not None:
            self._tests[record["test"]][place] += 1

    def segments(self) -> Segments:
        """Return what was counted; every segment has its number, also where it is 0."""
        counts: Counter[tuple[str, str]] = Counter()
        for places in self._tests.values():
            counts.update(places)
        return Segments(
            {name: sum(count for (segment, _), count in counts.items() if segment == name) for name in SEGMENTS},
            {
                name: {way: counts[name, way] for way in WAYS if (name, way) in counts}
                for name in SEGMENTS
                if any((name, way) in counts for way in WAYS)
            },
            {test: dict(places) for test, places in sorted(self._tests.items())},
        )
