"""`mutated` in a test: calls and their mutations on both sides, and what it refuses."""

from __future__ import annotations

import pytest

from support.runs import Outcome, run_pytest

TESTS = """
from autotest import autotest, mutated

@autotest(n=60, check_graph=False)
def test_calls():
    return mutated("torch.sum(x[2, 3], 1)", "torch.sum(x[4](low=0, high=9), 0, keepdim=True)")

@autotest(n=100, check_graph=False)
def test_families():
    return mutated("F.relu(x[2])", "torch.relu(x[2](dtype=float64))", "x[2].relu()")

@autotest(n=1)
def test_nothing():
    return mutated()

@autotest(n=1)
def test_given():
    return mutated("torch.relu(tensor([1.0]))")
"""


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """A run on PyTorch itself."""
    return run_pytest(tmp_path_factory.mktemp("mutated"), {"test_mutated.py": TESTS}, "-q")


def test_calls_and_mutations_are_aligned(outcome: Outcome) -> None:
    """PyTorch is aligned with itself in each; the ops are those of the family, and some draws are refused."""
    ends = outcome.ends("test_calls")
    assert {end["verdict"] for end in ends} <= {"aligned", "rejected", "skipped"}
    assert outcome.verdicts("test_calls")["aligned"] + outcome.verdicts("test_calls")["skipped"] >= 60
    ops = {op for end in ends for op in end["ops"]}
    assert len(ops) >= 5
    assert "sum" in ops


def test_only_what_pytorch_has_is_called(outcome: Outcome) -> None:
    """An op of the family is called as a function or as a method where it is one; no draw ends the test."""
    assert outcome.outcomes()["test_families"] == "passed"
    assert len({op for end in outcome.ends("test_families") for op in end["ops"]}) >= 10


def test_what_means_nothing(outcome: Outcome) -> None:
    """No call, and given values."""
    assert "mutated() has no call, but should have at least one, such as 'torch.relu(x[2, 3])'" in outcome.out
    assert (
        "torch.relu(tensor([1.0])) has given values, but should have drawn ones, such as x[2, 3] [mutated(...)]"
        in outcome.out
    )
