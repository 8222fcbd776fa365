"""The search for a change: among versions in a row, which of them differ from the one before?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one version.

    Attributes:
        word: what is compared: `stands`, `gone`, or what it diverges as; None where the version cannot run.
        detail: why, or as what.
    """

    word: str | None
    detail: str = ""

    def __str__(self) -> str:
        name = self.word or "cannot run"
        return f"{name}: {self.detail}" if self.detail else name


@dataclass(frozen=True, slots=True)
class Change:
    """Two versions that differ, by their places in the row; what lies between them cannot run."""

    before: int
    after: int


def halve(count: int, ask: Callable[[int], Outcome]) -> Change | None:
    """One change between the first and the last of `count` versions that can run, in as few of them as that takes; None
    where those two are the same, or only one can run.
    """
    outcomes: dict[int, Outcome] = {}

    def runs(place: int) -> bool:
        if place not in outcomes:
            outcomes[place] = ask(place)
        return outcomes[place].word is not None

    before = next(filter(runs, range(count)), count)
    after = next(filter(runs, range(count - 1, before, -1)), before)
    if before >= after or outcomes[before].word == outcomes[after].word:
        return None
    while between := [place for place in range(before + 1, after) if outcomes.get(place, _UNASKED).word is not None]:
        middle = min(between, key=lambda place: abs(2 * place - before - after))
        if not runs(middle):
            continue
        if outcomes[middle].word == outcomes[before].word:
            before = middle
        else:
            after = middle
    return Change(before, after)


def changes(outcomes: Sequence[Outcome]) -> Sequence[Change]:
    """Every change in a row of versions that were all asked."""
    ran = [place for place, outcome in enumerate(outcomes) if outcome.word is not None]
    return [Change(a, b) for a, b in pairwise(ran) if outcomes[a].word != outcomes[b].word]


#: Stands for what is not known yet.
_UNASKED = Outcome("")

__all__ = ["Change", "Outcome", "changes", "halve"]
