"""The course of a selection: its kept runs one after the other, and which of them showed what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reports.findings.finding import findings
from reports.past.history import Past
from reports.past.saved import Saved, saved_of
from reports.tallies.summary import Summary


@dataclass(frozen=True)
class Course:
    """The runs of one selection on one target by name, oldest first, the one that is told of last.

    `shown` has by fingerprint the numbers of the runs that showed it, `ops` by op how many fingerprints each run had.
    """

    runs: tuple[str, ...] = ()
    shown: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    ops: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def words(self, fingerprint: str) -> str:
        """When a divergence was first and last seen, and in how many runs; nothing where there is only one run."""
        numbers = self.shown.get(fingerprint, ())
        if len(self.runs) < 2 or not numbers:
            return ""
        first, last = (self.runs[number] for number in (numbers[0], numbers[-1]))
        here = "this run" if last == self.runs[-1] else last
        where = "in this run alone" if first == self.runs[-1] else f"first in {first}, last in {here}"
        return f"{where}; in {len(numbers):,} of {len(self.runs):,} kept runs of this selection"


def course(every: Sequence[Past], run: Path, summary: Summary) -> Course:
    """Return the course up to `run`: runs of its target and selection whose summary can be read."""
    told: list[Saved] = []
    for past in every:
        if past.folder == run:
            break
        saved = past.saved
        if isinstance(saved, Saved) and (saved.target, saved.selection) == (summary.target, summary.selection):
            told.append(saved)
    told.append(saved_of(summary))
    shown: dict[str, list[int]] = {}
    ops: dict[str, Counter[int]] = {}
    for number, saved in enumerate(told):
        for finding in findings(saved.rows):
            shown.setdefault(finding.fingerprint, []).append(number)
            ops.setdefault(_op(finding.fingerprint), Counter())[number] += 1
    return Course(
        (*(saved.folder.name for saved in told[:-1]), run.name),
        {fingerprint: tuple(numbers) for fingerprint, numbers in shown.items()},
        {op: tuple(counts[number] for number in range(len(told))) for op, counts in sorted(ops.items())},
    )


def _op(fingerprint: str) -> str:
    """The op of a fingerprint: what stands between its kind and its facts."""
    return fingerprint.rpartition("/")[0].split("/", 3)[-1]
