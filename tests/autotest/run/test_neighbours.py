"""Tests with few cases share graphs with those beside them; each is told of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.runs import Outcome, run_pytest

FILE = """
import warnings

import pytest
from autotest import autotest, random, random_tensor, torch


@pytest.fixture
def scale():
    return 2.0


@autotest(n=2, coverage="none")
def test_square():
    return torch.square(random_tensor(ndim=1))


@pytest.mark.parametrize("op", ["sin", "cos"])
@autotest(n=2, coverage="none")
def test_op(op):
    print(f"{op} speaks")
    warnings.warn(f"{op} warns")
    return getattr(torch, op)(random_tensor(ndim=1))


@autotest(n=2, coverage="none")
def test_scaled(scale):
    return random_tensor(ndim=1) * scale


class TestClass:
    @autotest(n=2, coverage="none")
    def test_method(self):
        return torch.tanh(random_tensor(ndim=1))


@pytest.mark.skip(reason="not now")
@autotest(n=2, coverage="none")
def test_left_out():
    return torch.abs(random_tensor(ndim=1))


@autotest(n=2, coverage="none", check_graph=False)
def test_eager():
    return torch.exp(random_tensor(ndim=1))


@autotest(n=20, coverage="none", graph_backward="all")
def test_full():
    return torch.relu(random_tensor(ndim=1))


@autotest(n=3, coverage="none")
def test_raises():
    if random(0, 2).to(int).value() >= 0:
        raise ValueError("of its own")


@autotest(n=12, coverage="none")
def test_many():
    return torch.sigmoid(random_tensor(ndim=1))


@autotest(n=4, coverage="none", graph_backward="none")
def test_last():
    return torch.neg(random_tensor(ndim=1))
"""


def compiled(outcome: Outcome) -> list[int]:
    """Of how many Programs each callable was."""
    return [int(line) for line in (outcome.folder / "compiled").read_text().split()]


def run(
    folder: Path, *arguments: str, fault: str = "counted", file: str = FILE, target: str = "torch:eager"
) -> Outcome:
    """Run the file on an executor."""
    env = {"AUTOTEST_FAULT": f"executor_faults:{fault}", "COMPILED": str(folder / "compiled")}
    return run_pytest(folder, {"test_it.py": file}, *arguments, "-W", "default", target=target, env=env)


@pytest.mark.slow
def test_who_shares(tmp_path: Path) -> None:
    """Tests that follow one another share graphs, as many as fill one. Those that want a fixture, belong to a class,
    may be skipped, have no graph or fill theirs alone are no neighbours; one that raises gives none, and is told of as
    ever.
    """
    outcome = run(tmp_path)
    assert outcome.status == 1
    assert outcome.outcomes() == {
        **dict.fromkeys(("test_square", "test_op[sin]", "test_op[cos]", "test_scaled", "test_method"), "passed"),
        **dict.fromkeys(("test_eager", "test_full", "test_many", "test_last"), "passed"),
        "test_raises": "failed",
    }
    # The first group: square, two ops, raises, and many's 12 are 21 cases, so many is in the next one, with last.
    assert compiled(outcome) == [6, 2, 2, 20, 16]
    assert outcome.summary["graph"] == {"verified": 46, "backward_verified": 33, "skipped": {}}
    warned = outcome.out.partition("warnings summary")[2].partition("-- Docs")[0]
    assert "test_it.py::test_op[sin]" in warned
    assert "test_it.py::test_square" not in warned
    assert outcome.out.count("UserWarning: sin warns") == 1
    assert "ValueError: of its own" in outcome.out


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["-p", "xdist", "-n", "2"], ["-k", "square or last"]])
def test_groups_are_those_of_the_collection(tmp_path: Path, arguments: list[str]) -> None:
    """Whichever process runs a test, its graph is the same, so that a compiler's cache knows it; what is not selected
    is in none.
    """
    outcome = run(tmp_path, *arguments)
    counted = compiled(outcome)
    if "-k" in arguments:
        assert counted == [6]
    else:
        assert set(counted) == {2, 6, 16, 20}
        assert outcome.summary["graph"] == {"verified": 46, "backward_verified": 33, "skipped": {}}


@pytest.mark.slow
def test_fault_is_told_of_its_test(tmp_path: Path) -> None:
    """What a shared graph computes wrong is red in each test that it is of, and blamed on its op."""
    outcome = run(tmp_path, "-k", "square or sin or cos", fault="doubled")
    assert outcome.outcomes() == dict.fromkeys(("test_square", "test_op[sin]", "test_op[cos]"), "failed")
    for test, op in (("test_square", "square"), ("test_op[sin]", "sin"), ("test_op[cos]", "cos")):
        assert {("graph_forward", "value", op)} <= outcome.rows(test)
    square, sin = outcome.out.partition("_ test_op[sin] _")[::2]
    assert "sin speaks" not in square
    assert "sin speaks" in sin


BREAKS = """
import pytest
from autotest import autotest, random_tensor, torch


@pytest.mark.parametrize("op", ["sin", "cos", "nonzero", "exp", "neg"])
@autotest(n=1, coverage="none")
def test_op(op):
    return getattr(torch, op)(random_tensor(ndim=1, low=1, high=2))
"""


def test_one_that_breaks_its_graph_is_left_out(tmp_path: Path) -> None:
    """The graph of the others is made once more without it, and its own is told to be in pieces."""
    outcome = run(tmp_path, file=BREAKS)
    assert compiled(outcome) == [5, 4, 1]
    assert outcome.summary["captures"]["captured"] == 4
    assert outcome.summary["captures"]["broken"] == 1
    broken = [end["test"] for end in outcome.records() if end["graph"]["capture"] == "broken"]
    assert broken == ["test_it.py::test_op[nonzero]"]


def test_end_is_not_told_of_neighbours(tmp_path: Path) -> None:
    """A graph that ends the target where tests share it, and no case's own does, costs one worker; after that none is
    shared.
    """
    outcome = run(tmp_path, "-k", "square or sin or cos or last", "--autotest-cases", "1", fault="deadly_together")
    assert outcome.status == 0, outcome.out
    assert compiled(outcome) == [4, 1, 1, 1, 1]
    assert outcome.summary["graph"] == {"verified": 4, "backward_verified": 3, "skipped": {}}


def test_one_stage_of_several(tmp_path: Path) -> None:
    """Where one of several executors takes many Programs at once, tests share its graphs; the others run one by one."""
    outcome = run(tmp_path, "-k", "square or last", target="torch:fx,torch:eager")
    assert outcome.status == 0, outcome.out
    assert outcome.summary["graph"] == {"verified": 6, "backward_verified": 2, "skipped": {}}


def test_replay_draws_one_case(tmp_path: Path) -> None:
    """Who asks for one case gets no others."""
    outcome = run(tmp_path, "--autotest-case", "test_it.py::test_square#1")
    assert compiled(outcome) == [1]
    assert outcome.records("ahead") == []


@pytest.mark.slow
def test_test_that_fills_its_graphs_has_no_neighbours(tmp_path: Path) -> None:
    """Nor has one that is alone in its group: nothing is drawn twice."""
    outcome = run(tmp_path, "-k", "full or many")
    assert compiled(outcome) == [20, 9, 3]
    assert outcome.records("ahead") == []


ENDS = """
import os
import signal

from autotest import autotest, random_tensor, torch


@autotest(n=1, coverage="none")
def test_first():
    return torch.sin(random_tensor(ndim=1))


@autotest(n=1, coverage="none")
def test_ends():
    os.kill(os.getpid(), signal.SIGKILL)


@autotest(n=1, coverage="none")
def test_last():
    return torch.cos(random_tensor(ndim=1))
"""


@pytest.mark.slow
def test_body_that_ends_the_process_ahead(tmp_path: Path) -> None:
    """Where a body ends the process while it runs ahead of its test, the test that runs is red, and says which body it
    was. In the worker that comes in its place nothing runs ahead: it would be red for each of the others, too.
    """
    outcome = run(tmp_path, "-q", "-n", "1", "--max-worker-restart", "9", file=ENDS)
    assert outcome.status == 1
    lines = outcome.out.splitlines()
    assert (
        "worker 'gw0' of pytest ended; it was drawing test_it.py::test_ends#0 ahead, to run it in one graph with cases "
        "of this test. PyTorch has ended it, or the body of that case's test, or somebody from elsewhere: the target "
        "runs in a process of its own"
    ) in lines
    assert (
        "worker 'gw1' of pytest ended; the last case that it began is test_it.py::test_ends#0. PyTorch has ended it, "
        "or the test's body, or somebody from elsewhere: the target runs in a process of its own"
    ) in lines
    assert outcome.verdicts("test_last") == {"aligned": 1}
    assert compiled(outcome) == [1]


def test_records_say_when_nothing_is_drawn_ahead_any_more(tmp_path: Path) -> None:
    """A process that ends later has not ended while it drew ahead."""
    outcome = run(tmp_path, "-k", "square or sin")
    keys = [record["key"] for record in outcome.records("ahead")]
    assert keys == [*(f"test_it.py::test_{of}#{n}" for of in ("square", "op[sin]") for n in (0, 1)), None]
