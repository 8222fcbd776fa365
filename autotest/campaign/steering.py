"""Which tests a campaign runs next.

Tests of one function are alike: where one has found something, another may. Each function is an arm of a bandit, whose
reward is new fingerprints by what they cost. That an op diverges in another phase, or shows another kind, is worth more
than the same on other facts: one op can be called wrong in many ways. Thompson sampling with the conjugate prior of a
Poisson rate draws each arm's rate from what is believed of it, and takes the greatest. What an arm has to find runs
out, so what it found earlier counts less at each visit: the discounted form, for rewards that change.

Where cells are told, a cell that no test has reached before is worth what such cells were worth so far: fingerprints
per new cell, of the whole campaign.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from autotest.campaign.log import VISIT, Done, Round, Visit, function_of

#: Visits of a round.
VISITS = 5
#: What is left, after one more visit, of what earlier ones say about an arm.
KEPT = 0.9
#: What a new fingerprint is worth that differs in its facts alone from one that was seen.
LIKE = 0.25


@dataclass(slots=True)
class _Arm:
    """A test function: its tests, and what its visits have found and cost, where VISIT plain cases cost 1."""

    tests: list[str]
    found: float = 0.0
    cost: float = 0.0


class Steering:
    """Decides the rounds of a campaign, by its seed and by what came of earlier rounds, and by nothing else.

    Round n is decided by what came of the rounds up to n - `lag`, whatever else has ended by then: so many may be under
    way, and how fast each process is decides nothing.
    """

    def __init__(self, tests: Mapping[str, int], seed: int, lag: int, *, uniform: bool = False) -> None:
        """Of `tests`, a visit of which draws so many cases."""
        self.lag = lag
        self._seed = seed
        self._uniform = uniform
        self._cases = tests
        self._tests = list(tests)
        groups: dict[str, list[str]] = defaultdict(list)
        for test in tests:
            groups[function_of(test)].append(test)
        self._arms = {function: _Arm(members) for function, members in groups.items()}
        self._turns: Counter[str] = Counter()
        self._seen: set[str] = set()
        self._ways: set[str] = set()
        self._cells: set[str] = set()

    def decided(self, round_: Round) -> None:
        """Count the visits of a round, which another sitting may have decided. A test that draws no cases, but has laid
        out ones, has one visit.
        """
        self._turns.update(visit.test for visit in round_.visits)
        for test in {visit.test for visit in round_.visits if not visit.cases} & {*self._tests}:
            self._tests.remove(test)
            self._arms[function_of(test)].tests.remove(test)

    @property
    def left(self) -> bool:
        """Whether there is a test to visit."""
        return bool(self._tests)

    def take(self, done: Done) -> None:
        """Learn from the next round in order."""
        worth = len(self._seen) / len(self._cells) if self._cells else 0.0
        for test, cost in done.costs.items():
            arm = self._arms[function_of(test)]
            fresh = {*done.cells.get(test, ())} - self._cells
            self._cells |= fresh
            arm.found = arm.found * KEPT + self._new(done.found.get(test, {})) + worth * len(fresh)
            arm.cost = arm.cost * KEPT + cost / VISIT

    def _new(self, found: Mapping[str, str]) -> float:
        """What the fingerprints among these are worth that nobody has seen before."""
        new = {id_: fingerprint for id_, fingerprint in found.items() if id_ not in self._seen}
        ways = {fingerprint.rpartition("/")[0] for fingerprint in new.values()} - self._ways
        self._seen |= new.keys()
        self._ways |= ways
        return len(ways) + LIKE * (len(new) - len(ways))

    def next(self, number: int) -> Round:
        """The round of this number."""
        random = np.random.default_rng([self._seed, number])
        turns: Counter[str] = Counter()
        visits = []
        for _ in range(VISITS):
            test = self._pick(random, turns)
            visits.append(Visit(test, self._turns[test] + turns[test], self._cases[test]))
            turns[test] += 1
        return Round(number, tuple(visits))

    def _pick(self, random: np.random.Generator, turns: Counter[str]) -> str:
        if self._uniform:
            return self._tests[random.integers(len(self._tests))]
        arms = [arm for arm in self._arms.values() if arm.tests]
        rates = random.gamma([1 + arm.found for arm in arms], [1 / (1 + arm.cost) for arm in arms])
        tests = arms[int(np.argmax(rates))].tests
        least = min(self._turns[test] + turns[test] for test in tests)
        rarest = [test for test in tests if self._turns[test] + turns[test] == least]
        return rarest[random.integers(len(rarest))]


__all__ = ["VISITS", "Steering"]
