"""Tests that are marked to fail: pytest's word on the test is the run's, and what it expects is known, not red."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from support.runs import Outcome

MARKED = """
import unittest

import pytest
from autotest import DivergenceError, autotest, random_tensor, torch

def planted():
    return torch.relu(random_tensor(ndim=1, dim0=3))

def aligned():
    return torch.tanh(random_tensor(ndim=1, dim0=3))

@pytest.mark.xfail(reason="relu adds one")
@autotest(n=2, check_graph=False)
def test_reason():
    return planted()

@pytest.mark.xfail
@autotest(n=2, check_graph=False)
def test_bare():
    return planted()

@pytest.mark.xfail("sys.platform == 'linux'", reason="on Linux")
@autotest(n=2, check_graph=False)
def test_condition():
    return planted()

@pytest.mark.xfail(raises=DivergenceError)
@autotest(n=2, check_graph=False)
def test_raises():
    return planted()

@pytest.mark.xfail
@autotest(n=3, check_graph=False)
def test_late(drawn=[]):
    drawn.append(0)
    if len(drawn) == 3:
        pytest.skip("no more")
    return planted()

@pytest.mark.xfail
@autotest(n=2, check_graph=False)
def test_aligned():
    return aligned()

@autotest(n=2, check_graph=False)
def test_in_the_body():
    aligned()
    pytest.xfail("in the body")

class TestCase(unittest.TestCase):
    @unittest.expectedFailure
    @autotest(n=2, check_graph=False)
    def test_unittest(self):
        return planted()
"""
UNEXCUSED = (
    MARKED.partition("@pytest.mark.xfail(reason")[0]
    + """
@pytest.mark.xfail(False, reason="elsewhere")
@autotest(n=2, check_graph=False)
def test_condition():
    return planted()

@pytest.mark.xfail(raises=ValueError)
@autotest(n=2, check_graph=False)
def test_raises():
    return planted()

@pytest.mark.xfail(strict=True)
@autotest(n=2, check_graph=False)
def test_strict():
    return aligned()

class TestCase(unittest.TestCase):
    @unittest.expectedFailure
    @autotest(n=2, check_graph=False)
    def test_unittest(self):
        return aligned()
"""
)
PLANTED = """
import torch

def relu(adapter):
    plain = torch.relu
    torch.relu = lambda x: plain(x) + 1
"""


@pytest.fixture
def run(shared_run: Callable[..., Outcome]) -> Callable[..., Outcome]:
    """Give a function that runs a file on a target whose relu adds one."""

    def run(name: str, text: str, *arguments: str) -> Outcome:
        files = {f"test_{name}.py": text, "planted.py": PLANTED}
        return shared_run(f"excuse-{name}", files, "-q", *arguments, env={"AUTOTEST_FAULT": "planted:relu"})

    return run


def test_what_a_mark_expects_is_known(run: Callable[..., Outcome]) -> None:
    """The test fails as expected, its divergences are known with the mark's reason, and the run is not red."""
    outcome = run("marked", MARKED)
    assert outcome.status == 0, outcome.out
    assert "7 xfailed, 1 xpassed" in outcome.out
    told = " ".join(outcome.out.split())
    assert "= aligned: 2 cases of 8 tests, torch " in told
    assert "; nothing new, 1 op is known to diverge tests 8 in " in told
    assert outcome.summary["divergences"] == []
    assert {row["test"].partition("::")[2]: row["reason"] for row in outcome.summary["known"]} == {
        "test_reason": "xfail: relu adds one",
        "test_bare": "xfail",
        "test_condition": "xfail: on Linux",
        "test_raises": "xfail",
        "test_late": "xfail",
        "TestCase::test_unittest": "unittest.expectedFailure",
    }
    assert set(outcome.outcomes().values()) == {"skipped", "passed"}
    assert [name for name, word in outcome.outcomes().items() if word == "passed"] == ["test_aligned"]


def test_what_no_mark_expects_is_red(run: Callable[..., Outcome]) -> None:
    """A mark whose condition is false or that expects another error excuses nothing; unexpected success is failure."""
    outcome = run("unexcused", UNEXCUSED)
    assert outcome.status == 1
    assert "4 failed" in outcome.out
    assert outcome.summary["known"] == []
    assert {row["test"].partition("::")[2] for row in outcome.summary["divergences"]} == {
        "test_condition",
        "test_raises",
    }
    assert set(outcome.outcomes().values()) == {"failed"}
    told = outcome.out.partition("Failed without a divergence\n")[2].split("\n")[:2]
    assert told == [
        "  test_unexcused.py::TestCase::test_unittest: Failed: Unexpected success",
        "  test_unexcused.py::test_strict",
    ]


def test_runxfail_ignores_the_marks(run: Callable[..., Outcome]) -> None:
    """With pytest's `--runxfail` nothing is expected."""
    outcome = run("runxfail", MARKED.partition("@pytest.mark.xfail\n")[0], "--runxfail")
    assert outcome.status == 1
    assert [row["level"] for row in outcome.summary["divergences"]] == ["wrong"]
