"""The segments of a run: every case is in exactly one of them, so that their numbers add up to the cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from reports.kinds import DEADLY, REFUSALS, severity
from reports.shape import ENDS, LEVELS, RED_LEVELS, Record

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
    """How many cases there are of each segment, and in those that diverge of each way."""

    cases: Mapping[str, int] = field(default_factory=dict)
    ways: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """Return the counts as plain data."""
        return {"cases": dict(self.cases), "ways": {name: dict(ways) for name, ways in self.ways.items()}}


class SegmentTally:
    """Counts `end` records into Segments."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()

    def take(self, record: Record) -> None:
        """Count one case."""
        place = segment_of(record)
        if place is not None:
            self._counts[place] += 1

    def segments(self) -> Segments:
        """Return what was counted; every segment has its number, also where it is 0."""
        return Segments(
            {name: sum(count for (segment, _), count in self._counts.items() if segment == name) for name in SEGMENTS},
            {
                name: {way: self._counts[name, way] for way in WAYS if (name, way) in self._counts}
                for name in SEGMENTS
                if any((name, way) in self._counts for way in WAYS)
            },
        )
