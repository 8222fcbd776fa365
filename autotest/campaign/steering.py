"""Which tests a campaign runs next.

Tests of one function are alike: where one has found something, another may. So are those of the functions of one file,
and those of one op, whatever function they are of: an op that is wrong in one way often is in another, and one that has
been visited five times has less to show. And a test that nobody has visited, the laid-out cases that are left of one,
and what is drawn where there are none, are different things. So the tests of each function and op are three arms of a
bandit, by how far they are. Their reward is new fingerprints by what they cost. An op that shows a kind for the first
time is most likely a fault that nobody has seen; the same in another phase, or on other facts, is most likely the fault
again, and worth a quarter. Thompson sampling with the conjugate prior of a Poisson rate draws what is believed of each
file and function, and for each op by how much it finds more, or less, than its functions let expect; the rate of an arm
is that of its function times that, and the greatest is taken. Before anything is known of a function, it is believed to
be as good as its file, and a file as all of its sort were so far. Where the corners of a test have been laid out, what
is drawn after them depends on where the test comes from more than on its op: suites show little more then, while
changed calls have only begun. So there a function is believed, as firmly as eight visits are, to be as good as its
folder. What an arm has to find runs out, so what it found earlier counts less at each visit: the discounted form, for
rewards that change. An arm of many tests that nobody has visited is taken more often than one of a few, for any of
them may be better than the others.

Where cells are told, a cell that no test has reached before is worth what such cells were worth so far: fingerprints
per new cell, of the whole campaign.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from autotest.campaign.log import VISIT, Done, Round, Visit, function_of
from autotest.compare.fingerprint import Fingerprint

Rates: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"
#: Visits of a round.
VISITS = 5
#: Cases of a test's first visit. Most of what a test shows, its first cases show: the others' cost goes to tests that
#: nobody has visited.
FIRST = 5
#: What is left, after one more visit, of what earlier ones say about a function; about an op, which has fewer.
KEPT, KEPT_OF_OP = 0.9, 0.8
#: What a new fingerprint is worth that differs in its phase or its facts alone from one that was seen.
LIKE = 0.25


class _Place(NamedTuple):
    """Where a function is.

    Attributes:
        of: the file of a function, or its folder.
        kept: what is left, after one more visit, of what earlier ones say about it.
        trusted: a function is believed to be as good as its place as firmly as so many visits of it would say so.
    """

    of: Callable[[str], str]
    kept: float
    trusted: float


_FILE = _Place(lambda function: function.partition("::")[0], 0.97, 1.0)
_FOLDER = _Place(lambda function: function.partition("::")[0].rpartition("/")[0], 1.0, 8.0)


class _Arms:
    """Tests of one sort, by function and op, and what visits of them have found and cost, where VISIT plain cases
    cost 1.
    """

    def __init__(self, tests: Iterable[str], place: _Place = _FILE, *, spread: bool = False) -> None:
        """Of `tests`, none of which is to be visited yet."""
        self._place = place
        self._spread = spread
        self._found = self._cost = 1.0
        arms: dict[tuple[str, str], int] = {}
        self._arm_of = {test: arms.setdefault(key_of(test), len(arms)) for test in tests}
        self._left: list[list[str]] = [[] for _ in arms]
        self._counts = np.zeros(len(arms), dtype=np.intp)
        places: dict[str, int] = {}
        functions: dict[str, int] = {}
        ops: dict[str, int] = {}
        self._function_of = np.array([functions.setdefault(name, len(functions)) for name, _ in arms], dtype=np.intp)
        self._op_of = np.array([ops.setdefault(name, len(ops)) for _, name in arms], dtype=np.intp)
        #: Of each function, where it is.
        self._place_of = np.array([places.setdefault(place.of(name), len(places)) for name in functions], dtype=np.intp)
        #: Of each place and function what was found, and what that has cost; of each op what was found, and how much
        #: its functions let expect.
        self._of_place = np.zeros((2, len(places)))
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
        place, trusted = self._place_of[function], self._place.trusted
        of_place, of_function = self._of_place[:, place], self._of_function[:, function]
        rate = (self._found / self._cost + of_place[0]) / (1 + of_place[1])
        expected = cost * (trusted * rate + of_function[0]) / (trusted + of_function[1])
        self._of_op[:, op] = self._of_op[:, op] * KEPT_OF_OP + (found, expected)
        self._of_place[:, place] = of_place * self._place.kept + (found, cost)
        self._of_function[:, function] = of_function * KEPT + (found, cost)
        self._found += found
        self._cost += cost

    def rates(self, random: np.random.Generator) -> Rates:
        """A rate for each arm, new fingerprints by what they cost, drawn from what is believed of it; less than 0 where
        no test of it is to be visited. Around the mean of their arm the rates of tests may be spread exponentially: the
        best of many is farther off than that of a few.
        """
        if not self._counts.any():
            return np.full(len(self._counts), -1.0)
        trusted = self._place.trusted
        found, cost = self._of_place
        of_places = random.gamma(self._found / self._cost + found, 1 / (1 + cost))[self._place_of]
        found, cost = self._of_function
        rates: Rates = random.gamma(trusted * of_places + found, 1 / (trusted + cost))[self._function_of]
        found, expected = self._of_op
        rates *= random.gamma(1 + found, 1 / (1 + expected))[self._op_of]
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
        """Of `tests`, a visit of which has so many cases."""
        self.lag = lag
        self._seed = seed
        self._uniform = uniform
        #: How many cases a test's first visit has; uniform drawing knows no difference between visits.
        self._first = VISIT if uniform else FIRST
        self._cases = tests
        #: Of tests that nobody has visited, of those that may have laid-out cases left, and of the others.
        self._new, self._laid_out, self._drawn = _Arms(tests, spread=True), _Arms(tests), _Arms(tests, _FOLDER)
        #: Each test that has cases left, and where it is.
        self._left = dict.fromkeys(tests, self._new)
        for test in tests:
            self._new.add(test)
        #: How many visits of laid-out cases are under way. Meanwhile the test is not among those to visit: whether it
        #: has any left is known then.
        self._under_way: Counter[str] = Counter()
        self._turns: Counter[str] = Counter()
        self._seen: set[str] = set()
        self._ways: set[tuple[str, str, str]] = set()
        self._cells: set[str] = set()

    def decided(self, round_: Round) -> None:
        """Count the visits of a round, which another sitting may have decided."""
        for visit in round_.visits:
            test = visit.test
            self._turns[test] += 1
            if visit.laid_out:
                if self._waits(test):
                    self._left[test].remove(test)
                self._under_way[test] += 1

    def _waits(self, test: str) -> bool:
        """Whether a test is among those to visit."""
        return test in self._left and (self._left[test] is self._drawn or not self._under_way[test])

    @property
    def left(self) -> bool:
        """Whether there is a test to visit."""
        return bool(self._left)

    def take(self, round_: Round, done: Done, avoided: Collection[str] = ()) -> None:
        """Learn from the next round in order. Those of its tests that were `avoided`, for their cases end the process,
        are not visited again.
        """
        of = {visit.test: self._arms(visit) for visit in reversed(round_.visits)}
        self._under_way.subtract(visit.test for visit in round_.visits if visit.laid_out)
        for test, arms in of.items():
            if arms is not self._drawn and self._left.get(test) not in (None, self._drawn):
                self._go_on(test, laid_out=test in done.laid_out)
        for test in avoided:
            if self._waits(test):
                self._left[test].remove(test)
            self._left.pop(test, None)
        worth = len(self._seen) / len(self._cells) if self._cells else 0.0
        for test, cost in done.costs.items():
            fresh = {*done.cells.get(test, ())} - self._cells
            self._cells |= fresh
            found = self._worth(done.found.get(test, {})) + worth * len(fresh)
            of[test].learn(test, found, cost / VISIT)

    def _arms(self, visit: Visit) -> _Arms:
        """Where a test was that had this visit."""
        if not visit.laid_out:
            return self._drawn
        return self._laid_out if visit.turn else self._new

    def _go_on(self, test: str, *, laid_out: bool) -> None:
        """Have a test again of which laid-out cases were visited: there may be some left, or not."""
        if laid_out or self._cases[test]:
            self._left[test] = self._laid_out if laid_out else self._drawn
            if self._waits(test):
                self._left[test].add(test)
        else:
            del self._left[test]

    def _worth(self, found: Mapping[str, str]) -> float:
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
        for test in self._any(random) if self._uniform else self._steered(random, turns):
            turn = self._turns[test] + turns[test]
            cases = self._cases[test] if turn else min(self._cases[test], self._first)
            visits.append(Visit(test, turn, cases, None if self._left[test] is self._drawn else self._corners(turn)))
            turns[test] += 1
        return Round(number, tuple(visits))

    def _corners(self, turn: int) -> tuple[int, int]:
        """Which laid-out cases a visit has."""
        end = self._first + turn * VISIT
        return (end - VISIT if turn else 0), end

    def _any(self, random: np.random.Generator) -> list[str]:
        """The tests of a round, of which each is any."""
        tests = [*self._left]
        return [tests[place] for place in random.integers(len(tests), size=VISITS)]

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
        sorts = (self._new, self._laid_out, self._drawn)
        rates = [arms.rates(random) for arms in sorts]
        taken: Counter[tuple[int, int]] = Counter()
        for _ in range(VISITS):
            sort = max(range(len(sorts)), key=lambda sort: rates[sort].max())
            arm = int(rates[sort].argmax())
            if rates[sort][arm] < 0:
                yield [*self._left]
                continue
            tests = sorts[sort].tests(arm)
            yield tests
            rates[sort][arm] /= 2
            taken[sort, arm] += 1
            if sorts[sort] is not self._drawn and taken[sort, arm] == len(tests):  # a visit of each is under way
                rates[sort][arm] = -1.0


__all__ = ["VISITS", "Steering"]
