"""Which tests a campaign runs next.

Tests of one function are alike: where one has found something, another may. So are tests of one op, whatever function
they are of: an op that is wrong in one way often is in another, and one that has been visited five times has less to
show. And a test's first visit, which has its laid-out cases, is another thing than the later ones. So the tests of each
function and op are two arms of a bandit, one for those that nobody has visited, and one for the others. Their reward is
new fingerprints by what they cost. An op that shows a kind for the first time is most likely a fault that nobody has
seen; the same in another phase, or on other facts, is most likely the fault again, and worth a tenth. Thompson sampling
with the conjugate prior of a Poisson rate draws what is believed of each function, and for each op by how much it finds
more, or less, than its functions let expect; the rate of an arm is the product of both, and the greatest is taken.
Before anything is known of a function, it is believed to be as good as all of its sort were so far. What an arm has to
find runs out, so what it found earlier counts less at each visit: the discounted form, for rewards that change. An arm
of many tests that nobody has visited is taken more often than one of a few, for any of them may be better than the
others.

Where cells are told, a cell that no test has reached before is worth what such cells were worth so far: fingerprints
per new cell, of the whole campaign.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from autotest.campaign.log import VISIT, Done, Round, Visit, function_of
from autotest.compare.fingerprint import Fingerprint

Rates: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"
#: Visits of a round.
VISITS = 5
#: What is left, after one more visit, of what earlier ones say about an arm.
KEPT = 0.9
#: The same for an op, which has fewer visits.
KEPT_OF_OP = 0.8
#: How much has to be expected of an op before what it has found counts as much as that nothing is known of it.
OP = 0.5
#: What a new fingerprint is worth that differs in its phase or its facts alone from one that was seen.
LIKE = 0.1


class _Arms:
    """Tests of one sort, by function and op, and what visits of them have found and cost, where VISIT plain cases
    cost 1.
    """

    def __init__(self, tests: Iterable[str], *, spread: bool) -> None:
        """Of `tests`, none of which is to be visited yet."""
        self._spread = spread
        self._found = self._cost = 1.0
        arms: dict[tuple[str, str], int] = {}
        self._arm_of = {test: arms.setdefault(key_of(test), len(arms)) for test in tests}
        self._left: list[list[str]] = [[] for _ in arms]
        self._counts = np.zeros(len(arms), dtype=np.intp)
        functions: dict[str, int] = {}
        ops: dict[str, int] = {}
        self._function_of = np.array([functions.setdefault(name, len(functions)) for name, _ in arms], dtype=np.intp)
        self._op_of = np.array([ops.setdefault(name, len(ops)) for _, name in arms], dtype=np.intp)
        #: Of each function what was found, and what that has cost; of each op what was found, and how much its
        #: functions let expect.
        self._of_function = np.zeros((2, len(functions)))
        self._of_op = np.zeros((2, len(ops)))

    def add(self, test: str) -> None:
        """Have a test to visit."""
        self._left[self._arm_of[test]].append(test)
        self._counts[self._arm_of[test]] += 1

    def remove(self, test: str) -> None:
        """Have it no longer."""
        self._left[self._arm_of[test]].remove(test)
        self._counts[self._arm_of[test]] -= 1

    def learn(self, test: str, found: float, cost: float) -> None:
        """Count what a visit has come to."""
        arm = self._arm_of[test]
        function, op = self._function_of[arm], self._op_of[arm]
        before = self._of_function[:, function]
        expected = cost * (self._found / self._cost + before[0]) / (1 + before[1])
        self._of_op[:, op] = self._of_op[:, op] * KEPT_OF_OP + (found, expected)
        self._of_function[:, function] = before * KEPT + (found, cost)
        self._found += found
        self._cost += cost

    def rates(self, random: np.random.Generator) -> Rates:
        """A rate for each arm, new fingerprints by what they cost, drawn from what is believed of it; less than 0 where
        no test of it is to be visited. Around the mean of their arm the rates of tests that nobody has visited are
        spread exponentially: the best of many is farther off than that of a few.
        """
        if not self._counts.any():
            return np.full(len(self._counts), -1.0)
        found, cost = self._of_function
        rates: Rates = random.gamma(self._found / self._cost + found, 1 / (1 + cost))[self._function_of]
        found, expected = self._of_op
        rates *= random.gamma(OP + found, 1 / (OP + expected))[self._op_of]
        if self._spread:
            among = np.maximum(self._counts, 1)
            rates *= -np.log1p(-(random.random(len(among)) ** (1 / among)))  # the greatest of so many
        rates[self._counts == 0] = -1.0
        return rates

    def tests(self, arm: int) -> list[str]:
        """Those of an arm that are to be visited."""
        return self._left[arm]


def key_of(test: str) -> tuple[str, str]:
    """The function of a test and the op that it is about, as its node id has them: `test_op[torch.nn.GELU-named]` and
    `test_gelu_2` are about gelu. Where the name of a test is no op's, what is called so is taken for one.
    """
    function = function_of(test)
    _, bracket, parameters = test.partition("[")
    name = parameters.rstrip("]").partition("-")[0].rpartition(".")[2]
    if not bracket:
        name = re.sub(r"_\d+$", "", function.rpartition("::")[2].removeprefix("test_"))
    return function, name.rstrip("_").lower()


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
        self._first, self._later = _Arms(tests, spread=True), _Arms(tests, spread=False)
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
            (self._first if test in first else self._later).learn(test, found, cost / VISIT)

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
        for test in self._drawn(random) if self._uniform else self._steered(random, turns):
            visits.append(Visit(test, self._turns[test] + turns[test], self._cases[test]))
            turns[test] += 1
        return Round(number, tuple(visits))

    def _drawn(self, random: np.random.Generator) -> Iterator[str]:
        """The tests of a round, of which each is any."""
        return (self._tests[random.integers(len(self._tests))] for _ in range(VISITS))

    def _steered(self, random: np.random.Generator, turns: Mapping[str, int]) -> Iterator[str]:
        """The tests of a round, in which those before have had these turns: of each arm's the one that was visited
        least.
        """
        for tests in self._chosen(random):
            least = min(self._turns[test] + turns[test] for test in tests)
            rarest = [test for test in tests if self._turns[test] + turns[test] == least]
            yield rarest[random.integers(len(rarest))]

    def _chosen(self, random: np.random.Generator) -> Iterator[list[str]]:
        """For each visit of a round the tests of which one has its turn: those of the arm with the greatest rate, which
        is then worth half for the rest of the round; any, where no arm has a test left.
        """
        first, later = (arms.rates(random) for arms in (self._first, self._later))
        taken: Counter[int] = Counter()
        for _ in range(VISITS):
            new = first.max() >= later.max()
            rates, arms = (first, self._first) if new else (later, self._later)
            arm = int(rates.argmax())
            if rates[arm] < 0:
                yield self._tests
                continue
            rates[arm] /= 2
            tests = arms.tests(arm)
            taken[arm] += new
            if new and taken[arm] == len(tests):  # this round has the first visit of each
                rates[arm] = -1.0
            yield tests


__all__ = ["VISITS", "Steering"]
