"""Which tests a campaign runs next.

Tests of one function are alike: where one has found something, another may. And a test's first visit, which has its
laid-out cases, is another thing than the later ones. So each function has two arms of a bandit, one for its tests that
nobody has visited, and one for the others. Their reward is new fingerprints by what they cost. An op that shows a kind
for the first time is most likely a fault that nobody has seen; the same in another phase, or on other facts, is most
likely the fault again, and worth a tenth. Thompson sampling with the conjugate prior of a Poisson rate draws each arm's
rate from what is believed of it, and takes the greatest. Before anything is known of an arm, it is believed to be as
good as all of its sort were so far. What an arm has to find runs out, so what it found earlier counts less at each
visit: the discounted form, for rewards that change. An arm of many tests that nobody has visited is taken more often
than one of a few, for any of them may be better than the others.

Where cells are told, a cell that no test has reached before is worth what such cells were worth so far: fingerprints
per new cell, of the whole campaign.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from autotest.campaign.log import VISIT, Done, Round, Visit, function_of
from autotest.compare.fingerprint import Fingerprint

#: Visits of a round.
VISITS = 5
#: What is left, after one more visit, of what earlier ones say about an arm.
KEPT = 0.9
#: What a new fingerprint is worth that differs in its phase or its facts alone from one that was seen.
LIKE = 0.1


@dataclass(slots=True)
class _Arm:
    """Tests of a function, and what their visits have found and cost, where VISIT plain cases cost 1."""

    tests: list[str] = field(default_factory=list)
    found: float = 0.0
    cost: float = 0.0


class _Arms:
    """Those of one sort, by function, and what all of them have found and cost."""

    def __init__(self, *, spread: bool) -> None:
        self._spread = spread
        self._arms: dict[str, _Arm] = defaultdict(_Arm)
        self._found = self._cost = 1.0

    def add(self, test: str) -> None:
        """Have a test to visit."""
        self._arms[function_of(test)].tests.append(test)

    def remove(self, test: str) -> None:
        """Have it no longer."""
        self._arms[function_of(test)].tests.remove(test)

    def learn(self, function: str, found: float, cost: float) -> None:
        """Count what a visit has come to."""
        arm = self._arms[function]
        arm.found = arm.found * KEPT + found
        arm.cost = arm.cost * KEPT + cost
        self._found += found
        self._cost += cost

    def best(self, random: np.random.Generator, taken: Collection[str]) -> tuple[float, list[str]]:
        """The greatest of the rates that are drawn from what is believed of each arm with tests that are not `taken`,
        and these tests; less than 0 where there are none. Around the mean of their arm the rates of tests that
        nobody has visited are spread exponentially: the best of many is farther off than that of a few.
        """
        arms, left = [], []
        functions = {function_of(test) for test in taken}
        for function, arm in self._arms.items():
            tests = [test for test in arm.tests if test not in taken] if function in functions else arm.tests
            if tests:
                arms.append(arm)
                left.append(tests)
        if not arms:
            return -1.0, []
        rates = random.gamma(
            self._found / self._cost + np.array([arm.found for arm in arms]),
            1 / (1 + np.array([arm.cost for arm in arms])),
        )
        if self._spread:
            counts = np.array([*map(len, left)])
            rates *= -np.log1p(-(random.random(len(arms)) ** (1 / counts)))  # the greatest of so many
        best = int(np.argmax(rates))
        return float(rates[best]), left[best]


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
        self._first, self._later = _Arms(spread=True), _Arms(spread=False)
        for test in tests:
            self._first.add(test)
        self._turns: Counter[str] = Counter()
        self._seen: set[str] = set()
        self._ways: set[tuple[str, str, str]] = set()
        self._cells: set[str] = set()

    def decided(self, round_: Round) -> None:
        """Count the visits of a round, which another sitting may have decided. A test that draws no cases, but has laid
        out ones, has one visit.
        """
        for visit in round_.visits:
            test = visit.test
            if not self._turns[test]:
                self._first.remove(test)
                if visit.cases:
                    self._later.add(test)
                else:
                    self._tests.remove(test)
            self._turns[test] += 1

    @property
    def left(self) -> bool:
        """Whether there is a test to visit."""
        return bool(self._tests)

    def take(self, round_: Round, done: Done, avoided: Collection[str] = ()) -> None:
        """Learn from the next round in order. Those of its tests that were `avoided`, for their cases end the process,
        are not visited again.
        """
        for test in avoided:
            if test in self._tests:
                self._tests.remove(test)
                (self._later if self._turns[test] else self._first).remove(test)
        worth = len(self._seen) / len(self._cells) if self._cells else 0.0
        first = {visit.test for visit in round_.visits if not visit.turn}
        for test, cost in done.costs.items():
            fresh = {*done.cells.get(test, ())} - self._cells
            self._cells |= fresh
            found = self._new(done.found.get(test, {})) + worth * len(fresh)
            (self._first if test in first else self._later).learn(function_of(test), found, cost / VISIT)

    def _new(self, found: Mapping[str, str]) -> float:
        """What the fingerprints among these are worth that nobody has seen before."""
        new = {id_: fingerprint for id_, fingerprint in found.items() if id_ not in self._seen}
        parsed = map(Fingerprint.parse, new.values())
        ways = {(one.target, one.kind, one.op) for one in parsed} - self._ways
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
        _, tests = max(self._first.best(random, turns), self._later.best(random, ()))
        tests = tests or self._tests  # this round has the first visit of each
        least = min(self._turns[test] + turns[test] for test in tests)
        rarest = [test for test in tests if self._turns[test] + turns[test] == least]
        return rarest[random.integers(len(rarest))]


__all__ = ["VISITS", "Steering"]
