"""Which tests are run next: by the seed and by what earlier rounds have found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

import pytest

from autotest.campaign.log import VISIT, Done, Round, Visit
from autotest.campaign.steering import FIRST, VISITS, Steering, key_of

#: Of four functions with an op each.
TESTS = [f"test_{letter}.py::test_op[torch.{letter}-{number}]" for letter in "abcd" for number in range(6)]
EACH = dict.fromkeys(TESTS, 20)
#: A round of drawn cases.
LATER = Round(0, tuple(Visit(test, 1, 20) for test in TESTS))


def first_of(*tests: str) -> Round:
    """A round of tests that nobody had visited."""
    return Round(0, tuple(Visit(test, 0, FIRST, (0, FIRST)) for test in tests))


def visited(more: Mapping[str, int] = MappingProxyType({})) -> Steering:
    """A campaign that has been at each test once, but for `more`: none has laid-out cases left."""
    steering = Steering({**EACH, **more}, 3, 8)
    steering.decided(first_of(*TESTS))
    steering.take(first_of(*TESTS), Done())
    return steering


def rounds(steering: Steering, rich: str, count: int = 60) -> list[Round]:
    """So many rounds of a campaign in which each visit of the tests of `rich` finds something new."""
    decided = []
    for number in range(count):
        round_ = steering.next(number)
        steering.decided(round_)
        decided.append(round_)
        if number >= steering.lag:
            steering.take(decided[number - steering.lag], came(decided[number - steering.lag], rich))
    return decided


def came(round_: Round, rich: str) -> Done:
    """What such a round comes to."""
    tests = {visit.test for visit in round_.visits}
    found = {
        test: {f"{round_.number}-{test}": f"{round_.number}/phase/value/x/float32"}
        for test in tests
        if test.startswith(rich)
    }
    return Done(costs=dict.fromkeys(tests, 20), found=found)


def visits(decided: list[Round]) -> Counter[str]:
    """How often each file was visited."""
    return Counter(visit.test.partition(".")[0] for round_ in decided for visit in round_.visits)


def test_rounds_follow_from_the_seed() -> None:
    """The same seed and the same results give the same rounds; another seed gives others."""
    assert rounds(Steering(EACH, 3, 8), "test_b") == rounds(Steering(EACH, 3, 8), "test_b")
    assert rounds(Steering(EACH, 3, 8), "test_b") != rounds(Steering(EACH, 4, 8), "test_b")


def test_what_finds_is_run_more_often() -> None:
    """The tests of a function that goes on to find get most of the visits; uniform drawing gives all as many."""
    steered = visits(rounds(Steering(EACH, 3, 8), "test_b"))
    assert sum(steered.values()) == 60 * VISITS
    assert steered["test_b"] > 150
    drawn = rounds(Steering(EACH, 3, 8, uniform=True), "test_b")
    assert max(visits(drawn).values()) < 100
    assert any(visit.turn for round_ in drawn[:3] for visit in round_.visits)  # whatever was visited before


def test_what_was_seen_before_is_no_find() -> None:
    """A fingerprint counts once."""
    steering = visited()
    for number in range(200):
        steering.take(LATER, Done(costs={TESTS[0]: 20}, found={TESTS[0]: {"same": "torch/phase/value/x/float32"}}))
        steering.take(
            LATER, Done(costs={TESTS[10]: 20}, found={TESTS[10]: {f"{number}": f"{number}/phase/value/x/float32"}})
        )
    decided = [steering.next(number) for number in range(40)]
    assert visits(decided)["test_a"] < 20 < visits(decided)["test_b"]


def test_each_test_has_its_turn() -> None:
    """Of a function's tests those come first that were visited least; a visit goes on where the last one was."""
    decided = rounds(Steering(dict.fromkeys(TESTS[:6], 20), 3, 8), "none", 12)
    seen = Counter(visit.test for round_ in decided for visit in round_.visits)
    assert max(seen.values()) - min(seen.values()) <= 1
    turns = sorted(visit.turn for round_ in decided for visit in round_.visits if visit.test == TESTS[0])
    assert turns == list(range(seen[TESTS[0]]))


def test_new_cells_count_as_much_as_they_were_worth() -> None:
    """Of two functions that find nothing the one that reaches new cells is run more often, once cells were worth
    something; cells that were reached before are worth nothing.
    """
    steering = visited()
    for number in range(200):
        steering.take(
            LATER,
            Done(
                costs={TESTS[0]: 20, TESTS[10]: 20, TESTS[20]: 20},
                found={TESTS[20]: {f"{number}": f"{number}/phase/value/x/float32"}} if number < 20 else {},
                cells={TESTS[0]: ["old", "older"], TESTS[10]: [f"{number}", f"{number}'"], TESTS[20]: [f"x{number}"]},
            ),
        )
    decided = visits([steering.next(number) for number in range(40)])
    assert decided["test_a"] < 40 < 60 < decided["test_b"]


@pytest.mark.parametrize(
    "like",
    ["torch/eager_forward/value/relu/float32,arg{}=", "torch/phase{}/value/relu/float32"],
    ids=["facts", "phase"],
)
def test_another_op_or_kind_is_worth_more_than_the_same_again(like: str) -> None:
    """Four fingerprints that differ from a seen one in their facts or phase count as one that differs in its op."""
    steering = visited()
    known = {"seen": "torch/eager_forward/value/relu/float32"}
    steering.take(LATER, Done(costs={TESTS[20]: 20}, found={TESTS[20]: known}))
    for number in range(40):
        way = f"torch/eager_forward/value/op{number}/float32"
        again = {**known, f"a{number}": like.format(number)}
        steering.take(LATER, Done(costs={TESTS[0]: 20}, found={TESTS[0]: again}))
        steering.take(LATER, Done(costs={TESTS[10]: 20}, found={TESTS[10]: {**known, f"b{number}": way}}))
    later = steering._drawn
    likes, ways = (later._of_function[0, later._function_of[later._arm_of[TESTS[number]]]] for number in (0, 10))
    assert ways / likes == pytest.approx(4, rel=0.05)


@pytest.mark.parametrize("uniform", [False, True])
def test_what_ends_the_process_is_not_visited_again(uniform: bool) -> None:
    """Only in rounds that were decided before."""
    tests = dict.fromkeys(["a.py::test_a", "a.py::test_b"], 20)
    steering = Steering(tests, 0, 8, uniform=uniform)
    ended = first_of("a.py::test_a")
    steering.decided(ended)
    for number in range(2):  # another round may have been under way
        steering.take(ended, Done(), ["a.py::test_a"])
        assert {visit.test for visit in steering.next(number).visits} == {"a.py::test_b"}
    steering.take(ended, Done(), ["a.py::test_b"])
    assert not steering.left


def test_first_visits_are_another_arm() -> None:
    """What finds when it is visited first, and nothing later, has each of its tests visited once before any again; and
    where it is later ones that find, those are taken.
    """
    for first in (True, False):
        steering = Steering(EACH, 3, 8)
        steering.decided(first_of(TESTS[0], TESTS[6]))
        for number in range(30):
            for test, rich in ((TESTS[0], True), (TESTS[6], False)):
                found = {test: {f"{test}{number}": f"{test}{number}/phase/value/x/float32"}} if rich else {}
                steering.take(first_of(test), Done(costs={test: 20}, found=found if first else {}))
                steering.take(LATER, Done(costs={test: 20}, found={} if first else found))
        taken = Counter(
            (visit.test in TESTS[:6], visit.turn == 0) for n in range(40) for visit in steering.next(n).visits
        )
        assert taken[True, first] > 100
        assert taken[True, not first] < 10


def test_what_nobody_knows_is_believed_to_be_as_good_as_the_others() -> None:
    """Where first visits have found little so far, an arm without any is not taken for a good one."""
    other, new = "test_x.py::test_op", "test_new.py::test_op"
    shares = []
    for count in (200, 0):
        steering = visited({new: 20, other: 20})
        steering.decided(first_of(other))
        found = {f"{number}": f"{number}/phase/value/x/float32" for number in range(count)}
        steering.take(first_of(other), Done(costs={other: 4000}, found={other: found}))
        for number in range(20):
            later = {TESTS[10]: {f"later{number}": f"later{number}/phase/value/x/float32"}} if number % 2 else {}
            steering.take(LATER, Done(costs={TESTS[10]: 20}, found=later))
        shares.append(sum(visit.test == new for number in range(200) for visit in steering.next(number).visits))
    assert shares[0] > 2 * shares[1]


def test_tests_of_a_function_may_differ() -> None:
    """A function of a hundred tests has more first visits than a function of one that is as good: any of its tests may
    be of another op.
    """
    many = [f"test_many.py::test_op[{number}]" for number in range(100)]
    few = [f"test_{number}.py::test_op" for number in range(100)]
    shares = []
    for seed in range(10):
        steering = Steering(dict.fromkeys([*many, *few], 20), seed, 8)
        for test in (many[0], few[0]):
            steering.take(
                first_of(test),
                Done(costs={test: 200}, found={test: {test: f"{test}/phase/value/x/float32"}}),
            )
        shares.append(visits([steering.next(number) for number in range(20)]))
    assert sum(share["test_many"] for share in shares) > 3 * sum(share["test_0"] for share in shares)


def test_tests_of_an_op_may_be_alike() -> None:
    """Of functions that find as much the unvisited tests of an op that was wrong are run before those of others; where
    its tests find nothing more, they are not.
    """
    ops = [f"op{number}" for number in range(40)]
    files = [f"test_{number}.py" for number in range(9)]
    places = []
    for rich in (True, False):
        steering = Steering({f"{file}::test_op[torch.{op}-x]": 20 for op in ops for file in files}, 3, 8)
        for file in files[:2]:
            tests = [f"{file}::test_op[torch.{op}-x]" for op in ops]
            round_ = first_of(*tests)
            steering.decided(round_)
            found = {test: {f"{test}{n}": f"{test}{n}/eager/value/x/float32" for n in range(8)} for test in tests}
            finds = {test: rows for test, rows in found.items() if ("op7-" in test) == rich}
            steering.take(round_, Done(costs=dict.fromkeys(tests, 20), found=finds))
        first = [visit.test for number in range(12) for visit in steering.next(number).visits]
        places.append(sum("op7-" in test for test in first))
    assert places[0] > 6 > 2 > places[1], places


@pytest.mark.parametrize(
    ("test", "key"),
    [
        ("suites/test_a.py::test_op[torch.nn.GELU-named]", ("suites/test_a.py::test_op", "gelu")),
        ("suites/test_a.py::test_form[Tensor.add_]", ("suites/test_a.py::test_form", "add")),
        ("test_calls.py::test_gelu_2", ("test_calls.py::test_gelu_2", "gelu")),
        ("test_a.py::TestIt::test_what_it_does", ("test_a.py::TestIt::test_what_it_does", "what_it_does")),
        ("test_a.py::test_sample[hstack]", ("test_a.py::test_sample", "hstack")),
    ],
)
def test_what_a_test_is_about(test: str, key: tuple[str, str]) -> None:
    """Its function, and its op by the parameters or by its name."""
    assert key_of(test) == key


def test_a_test_that_draws_nothing_is_visited_once() -> None:
    """Its laid-out cases are the same each time; where there is no other, nothing is left."""
    for uniform in (False, True):
        steering = Steering({**dict.fromkeys(TESTS[:6], 0), TESTS[10]: 5}, 3, 8, uniform=uniform)
        decided = rounds(steering, "none")
        seen = Counter(visit.test for round_ in decided for visit in round_.visits)
        assert {visit.cases for round_ in decided for visit in round_.visits if visit.test == TESTS[10]} == {5}
        assert max(seen[test] for test in TESTS[:6]) <= VISITS * steering.lag, "those under way"
        later = Counter(visit.test for round_ in decided[40:] for visit in round_.visits)
        assert [*later] == [TESTS[10]]
        assert steering.left
    steering = Steering({TESTS[0]: 0}, 3, 8)
    assert steering.left
    round_ = steering.next(0)
    steering.decided(round_)
    steering.take(round_, Done())
    assert not steering.left


def test_laid_out_cases_come_first() -> None:
    """A test of which laid-out cases may be left goes on with them, a visit at a time; then its cases are drawn."""
    steering = Steering(EACH, 3, 8)
    some = first_of(*TESTS[:12])
    steering.decided(some)
    waiting = steering.next(1)
    assert {visit.test for visit in waiting.visits} <= {*TESTS[12:]}
    steering.take(some, Done(laid_out=TESTS[:6], costs=dict.fromkeys(TESTS[:12], 20)))
    decided = [visit for number in range(60) for visit in steering.next(number).visits]
    turns = {(visit.turn, visit.laid_out) for visit in decided if visit.test in TESTS[:6]}
    assert turns == {(1, (FIRST, FIRST + VISIT))}
    assert {(visit.turn, visit.laid_out) for visit in decided if visit.test in TESTS[12:]} == {(0, (0, FIRST))}
    assert {visit.laid_out for visit in decided if visit.test in TESTS[6:12]} == {None}


def test_first_visits_are_short() -> None:
    """Of tests that ask for 20 cases, so that others have their first visit sooner; later ones go on from there."""
    tests = TESTS[:VISITS]
    steering = Steering(dict.fromkeys(tests, 20), 3, 8)
    for cases, laid_out in (
        (FIRST, (0, FIRST)),
        (20, (FIRST, FIRST + VISIT)),
        (20, (FIRST + VISIT, FIRST + 2 * VISIT)),
    ):
        round_ = steering.next(0)
        assert {visit.test for visit in round_.visits} == {*tests}
        assert {(visit.cases, visit.laid_out) for visit in round_.visits} == {(cases, laid_out)}
        steering.decided(round_)
        steering.take(round_, Done(laid_out=tests))


def test_uniform_drawing_knows_no_first_visits() -> None:
    """All of a test's visits are as long."""
    visits = Steering({TESTS[0]: 20}, 3, 8, uniform=True).next(0).visits
    assert [visit.cases for visit in visits] == [20] * VISITS
    assert [visit.laid_out for visit in visits] == [(turn * VISIT, (turn + 1) * VISIT) for turn in range(VISITS)]


def test_drawn_cases_are_as_good_as_their_folder() -> None:
    """Where the corners of a folder's tests have been laid out and what was drawn then of some has shown nothing, its
    other functions are not tried one by one, as they are where another folder's have shown something.
    """
    tests = [f"{folder}/test_{number}.py::test_op" for folder in ("rich", "poor") for number in range(40)]
    steering = Steering(dict.fromkeys(tests, 20), 3, 8)
    steering.decided(first_of(*tests))
    steering.take(first_of(*tests), Done())
    some = [*tests[:8], *tests[40:48]]
    found = {test: {test: f"torch/eager_forward/value/{test}/float32"} for test in some[:8]}
    steering.take(
        Round(1, tuple(Visit(test, 1, 20) for test in some)), Done(costs=dict.fromkeys(some, 20), found=found)
    )
    new = [visit.test for number in range(20) for visit in steering.next(number).visits if visit.test not in some]
    shares = Counter(test.partition("/")[0] for test in new)
    assert shares["rich"] > 8 * shares["poor"], shares


def test_sitting_that_goes_on_decides_the_same() -> None:
    """All rounds that were decided are counted at once, and then what came of them is learned: the next round is the
    one that the sitting before would have decided.
    """
    tests = {**EACH, **dict.fromkeys(TESTS[:3], 0)}
    steering = Steering(tests, 3, 8)
    decided: list[Round] = []
    comes: list[Done] = []
    for number in range(120):
        if number >= 8:
            steering.take(decided[number - 8], comes[number - 8])
        round_ = steering.next(number)
        steering.decided(round_)
        decided.append(round_)
        laid_out = tuple(visit.test for visit in round_.visits if visit.turn < 3 and visit.test not in TESTS[6:])
        comes.append(Done(laid_out=laid_out, costs={visit.test: 20 for visit in round_.visits}))
        if number % 10 == 9:
            again = Steering(tests, 3, 8)
            for one in decided:
                again.decided(one)
            for one, came_ in zip(decided[: number - 7], comes, strict=False):
                again.take(one, came_)
            assert again.next(number + 1) == steering.next(number + 1)


def test_files_differ() -> None:
    """Of functions that nobody knows those are run first that lie in a file in which others have found something."""
    files = [f"test_{letter}.py::test_{number}" for letter in "ab" for number in range(40)]
    steering = Steering(dict.fromkeys(files, 20), 3, 8)
    some = [*files[:8], *files[40:48]]
    steering.decided(first_of(*some))
    found = {test: {test: f"torch/eager_forward/value/{test}/float32"} for test in files[40:48]}
    steering.take(first_of(*some), Done(costs=dict.fromkeys(some, 20), found=found))
    new = [visit.test for number in range(10) for visit in steering.next(number).visits if not visit.turn]
    shares = Counter(test.partition(".")[0] for test in new)
    assert shares["test_b"] > 4 * shares["test_a"], shares
