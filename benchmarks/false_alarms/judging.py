"""What a run of a lawful variant comes to: false alarms, explained or not, against how many there may be."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.false_alarms.variants import Variant
from benchmarks.running import Outcome, Red

#: One false alarm is borne in so many cases.
CASES_PER_ALARM = 10_000


@dataclass(frozen=True)
class Score:
    """A variant's run. `alarms` are the red divergences but those of kinds in which the variant lawfully differs."""

    variant: Variant
    inputs: str
    cases: int
    alarms: tuple[Red, ...]
    lawful: int
    failed: tuple[str, ...]

    @property
    def count(self) -> int:
        """In how many cases there was a false alarm."""
        return sum(red.count for red in self.alarms)

    @property
    def bar(self) -> int:
        """How many there may be."""
        return math.ceil(self.cases / CASES_PER_ALARM)


def score(variant: Variant, inputs: str, outcome: Outcome) -> Score:
    """Tell false alarms from lawful differences."""
    alarms = tuple(red for red in outcome.reds if red.kind not in variant.lawful)
    lawful = sum(red.count for red in outcome.reds if red.kind in variant.lawful)
    return Score(variant, inputs, outcome.cases, alarms, lawful, outcome.failed)


def complaints(result: Score, explained: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """What makes the bench red, in sentences."""
    name = f"{result.variant.name}, {result.inputs} inputs"
    for red in result.alarms:
        if (result.variant.name, red.fingerprint) not in explained:
            yield f"{name}: unexplained false alarm {red.fingerprint} [{red.test}] {red.message}"
    for test in result.failed:
        yield f"{name}: {test} failed without a divergence"
    if result.count > result.bar:
        yield f"{name}: false alarms={result.count}, but should be at most {result.bar} in {result.cases} cases"


def table(scores: Sequence[Score], *, markdown: bool) -> Iterator[str]:
    """A row per run, in columns or as a table in Markdown."""
    rows = [("variant", "inputs", "cases", "false alarms")]
    rows += [(result.variant.name, result.inputs, str(result.cases), str(result.count)) for result in scores]
    for number, (variant, inputs, cases, alarms) in enumerate(rows):
        if markdown:
            yield f"| {variant} | {inputs} | {cases} | {alarms} |"
            if not number:
                yield "|---|---|---:|---:|"
        else:
            yield f"{variant:<12}{inputs:<10}{cases:>8}{alarms:>14}"
