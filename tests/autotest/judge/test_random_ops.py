"""Faults of random ops, planted in the target."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from support.runs import Outcome

pytestmark = pytest.mark.slow

FILES = {"test_randoms.py": "randoms.py"}
# Per test: the rows of its fault, and a message of them as far as it does not hold drawn numbers.
WRONG = {
    "test_distribution": ({("eager_forward", "random", "dropout")}, "dropout: dropout gives "),
    "test_gradient": (
        {("eager_backward", "random", "rrelu"), ("graph_backward", "random", "rrelu")},
        "rrelu: rrelu has a gradient that does not follow its output in ",
    ),
    "test_stuck": (
        {("eager_forward", "random", "rand"), ("graph_forward", "random", "rand")},
        "rand: rand gives the same numbers at every call, but should draw anew",
    ),
    "test_stuck_in_the_graph": (
        {("graph_forward", "random", "randn")},
        "randn: randn gives the same numbers at every call of the same graph, but should draw anew",
    ),
    "test_second_way": (
        {("eager_forward", "random", "multinomial")},
        "multinomial: multinomial repeats elements in one row, but should not",
    ),
    "test_dtype": (
        {("eager_forward", "dtype", "bernoulli")},
        "bernoulli: t0 has dtype float64, but should ",
    ),
}
SharedRun = Callable[..., Outcome]


@pytest.fixture
def sound(shared_run: SharedRun) -> Outcome:
    """The bodies of `randoms.py` against a sound target."""
    return shared_run("randoms-sound", FILES, "-q")


@pytest.fixture
def wrong(shared_run: SharedRun) -> Outcome:
    """The bodies of `randoms.py` against a target whose random ops are not those of the reference."""
    return shared_run("randoms-wrong", FILES, "-q", env={"AUTOTEST_FAULT": "faults:randoms"})


def test_sound_target_is_green(sound: Outcome) -> None:
    """Random cases align with a target that draws other numbers, and each is counted as random."""
    assert sound.status == 0, sound.out
    assert [end["graph"]["random"] for end in sound.records()] == ["tainted"] * len(sound.records())


@pytest.mark.parametrize("test", WRONG)
def test_fault_is_seen(wrong: Outcome, test: str) -> None:
    """Each fault is blamed on its op, and worded."""
    rows, words = WRONG[test]
    assert wrong.rows(test) == rows
    assert any(message.startswith(words) for message in wrong.messages(test))


def test_others_are_green(wrong: Outcome) -> None:
    """What has no fault stays green."""
    assert {test for test, outcome in wrong.outcomes().items() if outcome == "failed"} == {*WRONG}
