"""A target whose answers are lawful but others: undecidable, green and counted; its wrong answers stay red."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from support.runs import Outcome

DOUBTS = {
    "test_other_tie": "argsort: tie",
    "test_other_slope": "relu: not differentiable there",
    "test_other_order": "sum: rounding",
    "test_in_a_chain": "sort: tie",
}
WRONG = {
    "test_no_tie": ("eager_forward", "value", "argmin"),
    "test_wrong_slope": ("eager_backward", "value", "relu6"),
    "test_wrong_mean": ("eager_forward", "value", "mean"),
}


@pytest.fixture
def lawful(shared_run: Callable[..., Outcome]) -> Outcome:
    """The bodies of `lawful.py` against a target with answers of its own."""
    return shared_run("lawful", {"test_lawful.py": "lawful.py"}, "-q", env={"AUTOTEST_FAULT": "faults:lawful"})


@pytest.mark.parametrize("test", DOUBTS)
def test_lawful_answers_are_undecidable(lawful: Outcome, test: str) -> None:
    """Every case is undecidable, in the graph as in eager; the reason is told once, and the test passes."""
    assert lawful.verdicts(test) == {"undecidable": 3}
    assert {end["reason"] for end in lawful.ends(test)} == {DOUBTS[test]}
    assert lawful.rows(test) == set()
    assert lawful.outcomes()[test] == "passed"
    assert {end["graph"]["forward"] for end in lawful.ends(test)} == {"verified"}


@pytest.mark.parametrize("test", WRONG)
def test_wrong_answers_stand(lawful: Outcome, test: str) -> None:
    """Every case is divergent by the op at fault."""
    assert lawful.verdicts(test) == {"divergent": 3}
    assert WRONG[test] in lawful.rows(test)
    assert lawful.outcomes()[test] == "failed"


def test_summary_counts_doubts(lawful: Outcome) -> None:
    """The summary counts the cases, and names the ops that are in doubt too often."""
    assert lawful.summary["undecidable"] == 12
    assert [row["op"] for row in lawful.summary["doubts"]] == ["argsort", "relu", "sort", "sum"]
    assert "argsort: 3 of 3 cases have undecidable results (tie)" in lawful.out


def test_loose_tolerance_is_warned_of(lawful: Outcome) -> None:
    """A test that allows far more than its cases need stays green and is named."""
    assert lawful.outcomes()["test_loose"] == "passed"
    assert lawful.summary["loose"] == [
        "test_lawful.py::test_loose: rtol=0.5, atol=0.5, but rtol=0.0001, atol=1e-05 would do "
        "[largest error: test_lawful.py::test_loose#0]"
    ]
    assert "Loose tolerances" in lawful.out
