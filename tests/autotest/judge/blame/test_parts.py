"""What is wrong in a training is blamed on its part: a layer within containers, what is accumulated, a schedule."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from autotest.judge.blame.batches import NAME, WORDS
from support.runs import Outcome
from support.scripts import assert_stand_where_planted, scripts_of

pytestmark = pytest.mark.slow

FILES = {"test_parts.py": "parts.py"}
FAULT = {"AUTOTEST_FAULT": "training_faults:parts"}
ARGUMENTS = ("--autotest-shrink=10", "--autotest-no-memory")
COUNTED = {("eager_forward", "value", "BatchNorm1d")}
SUMMED = {("graph_update", "value", NAME)}
#: Per test: phase, kind and what is blamed.
BLAMED = {
    "test_nested[in_sequentials]": COUNTED,
    "test_nested[by_names]": COUNTED,
    "test_nested[in_a_list]": COUNTED,
    "test_nested[in_a_dict]": COUNTED,
    "test_summed": SUMMED,
    "test_summed_with_a_state": SUMMED,
    "test_summed_by_schedule": SUMMED,
    "test_summed_and_clipped": SUMMED,
    "test_late": {("graph_update", "value", "StepLR")},
    "test_overwritten": {("eager_backward", "value", NAME)},
    "test_later_batch": {("eager_forward", "value", "sinh"), ("eager_backward", "value", "sinh")},
    "test_end": {("eager_update", "value", "LinearLR")},
}


@pytest.fixture(scope="module")
def wrong(shared_run: Callable[..., Outcome]) -> Outcome:
    """The bodies with all faults."""
    return shared_run("parts", FILES, *ARGUMENTS, target="oneflow", env=FAULT)


@pytest.mark.parametrize("name", BLAMED)
def test_fault(wrong: Outcome, name: str) -> None:
    """Each is told in its own phase and blamed on its part, and nothing else is told."""
    assert wrong.rows(name) == BLAMED[name]


def test_sound(shared_run: Callable[..., Outcome]) -> None:
    """Without a fault nothing is told."""
    run = shared_run("parts-sound", FILES, target="oneflow")
    assert run.status == 0, run.out
    assert {*run.outcomes()} == {*BLAMED}


def test_words(wrong: Outcome) -> None:
    """What is accumulated is blamed with what was tried."""
    for message in wrong.messages("test_summed"):
        assert message.startswith("accumulate: m0.weight after step 1 differs in "), message
        due = f"; it moves 2 times as far as it should, once for each batch that it accumulates{WORDS}"
        assert message.endswith(due), message


def test_scripts(wrong: Outcome) -> None:
    """A script ends with 1 where the fault is planted, and with 0 where it is not: what it was shrunk to has no other
    cause, such as LinearLR's of no iterations, with which OneFlow starts at the end.
    """
    blamed = [f"/{op}" for op in ("BatchNorm1d", NAME, "StepLR", "LinearLR")]
    assert_stand_where_planted(scripts_of(wrong, blamed), "training_faults:parts")
