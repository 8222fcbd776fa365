"""Faults that only the second call of a static graph shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from support.runs import Outcome

FILES = {"test_again.py": "again.py"}
PREFIX = "at the second call of the same graph, "

# Per test: phase and kind of its rows, and the fact that tells them from those of a first call.
WRONG = {
    "test_baked_constant": {"torch/graph_forward/value/sin/float32,again"},
    "test_earlier_results": {"torch/graph_forward/value/cos/float32,again"},
    "test_earlier_gradients": {"torch/graph_backward/value/exp/float32,again"},
    "test_nothing_done": {"torch/graph_forward/value/tan/float32,again"},
    "test_state_kept": {"torch/graph_state/value/BatchNorm1d/float32,running_mean,again"},
    "test_together_alone": {"torch/graph_forward/batch_only/program/float32,again"},
}
SharedRun = Callable[..., Outcome]


@pytest.fixture
def sound(shared_run: SharedRun) -> Outcome:
    """The bodies of `again.py` against a sound target."""
    return shared_run("again-sound", FILES, "-q")


@pytest.fixture
def wrong(shared_run: SharedRun) -> Outcome:
    """The bodies of `again.py` against graphs that are right when they are called first."""
    return shared_run("again-wrong", FILES, "-q", env={"AUTOTEST_FAULT": "faults:again"})


def test_second_calls_of_a_sound_target_are_verified_or_told_why_not(sound: Outcome) -> None:
    """Every case has a second call that agrees, but where no other values are to be had."""
    assert sound.status == 0, sound.out
    told = {test: Counter(end["graph"]["again"] for end in sound.ends(test)) for test in sound.outcomes()}
    assert told.pop("test_no_other_values") == {"its inputs have no other values": 3}
    assert told.pop("test_values_are_read") == {"the body reads values that the second values change": 3}
    assert told == {test: {"verified": 3} for test in told}


@pytest.mark.parametrize("test", WRONG)
def test_fault_is_seen_at_the_second_call(wrong: Outcome, test: str) -> None:
    """Each fault is red by its second call alone, and says so in fingerprint and message."""
    rows = [row for end in wrong.ends(test) for row in end["divergences"]]
    assert {row["fingerprint"] for row in rows} == WRONG[test]
    assert all(PREFIX in row["message"] for row in rows)


def test_call_of_a_chain_is_blamed(wrong: Outcome) -> None:
    """Of several calls the one whose graph of its own diverges at its second call is blamed."""
    assert wrong.rows("test_baked_constant_in_a_chain") == {("graph_forward", "value", "sin")}


@pytest.mark.parametrize("test", ["test_eager_is_wrong", "test_eager_is_wrong_in_a_chain"])
def test_eager_is_blamed_for_what_it_does_itself(wrong: Outcome, test: str) -> None:
    """Where eager computes the same as the graph from the second values, the row is eager's own, of the call that shows
    it.
    """
    assert wrong.rows(test) == {("eager_forward", "value", "log10")}


def test_others_are_green(wrong: Outcome) -> None:
    """Nothing else is red."""
    red = {test for test, outcome in wrong.outcomes().items() if outcome == "failed"}
    chains = {"test_baked_constant_in_a_chain", "test_eager_is_wrong_in_a_chain"}
    assert red == {*WRONG, *chains, "test_eager_is_wrong"}


def test_words(wrong: Outcome) -> None:
    """A message tells the call, what differs and how."""
    words = "BatchNorm1d: at the second call of the same graph, buffer m0.running_mean differs in 3 of 3 elements: "
    assert all(message.startswith(words) for message in wrong.messages("test_state_kept"))
