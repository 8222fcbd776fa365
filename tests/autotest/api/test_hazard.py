"""`@hazard` in a test file: what it comes to on each kind of target."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from autotest import UsageError, hazard
from support.runs import run_pytest

FILE = """
import torch

from autotest import hazard


def up():
    return (torch.tensor([1.0, 2.0]),)


def down():
    return (torch.tensor([-1.0, -2.0]),)


@hazard(up, other=down)
def test_right(x):
    return x * 2


@hazard(up, other=down)
def test_wrong(x):
    return x * 2 if x.sum() > 0 else x - 1


@hazard(up, other=down, known={"trace": "it keeps one run"})
def test_known(x):
    return x * 2 if x.sum() > 0 else x - 1
"""


def test_outcomes(tmp_path: Path) -> None:
    """Green, red with the sentence alone, expected where it is known; the summary names the red one, and all three are
    skipped, with the reason, on a target that is no executor.
    """
    run = run_pytest(tmp_path / "trace", {"test_x.py": FILE}, "-rxs", target="torch:trace")
    assert run.outcomes() == {"test_right": "passed", "test_wrong": "failed", "test_known": "skipped"}
    wrong = "torch:trace is silently wrong: result 0 is [-2.0, -4.0], but should be [-2.0, -3.0]"
    assert f"\n{wrong}\n" in run.out
    assert "Traceback" not in run.out
    assert run.summary["errors"] == {"test_x.py::test_wrong": f"autotest.HazardError: {wrong}"}
    assert f"XFAIL test_x.py::test_known - {wrong}; it keeps one run" in run.out
    run = run_pytest(tmp_path / "torch", {"test_x.py": FILE}, "-rs")
    assert run.outcomes() == dict.fromkeys(("test_right", "test_wrong", "test_known"), "skipped")
    assert "torch takes no function as it is: it is for --target torch:EXECUTOR" in run.out


def test_several_executors(tmp_path: Path) -> None:
    """Each executor that the target lists takes the function; one that is wrong by surprise outweighs a known one."""
    run = run_pytest(tmp_path, {"test_x.py": FILE}, "-rx", target="torch:script,torch:trace,torch:make_fx")
    assert run.outcomes() == {"test_right": "passed", "test_wrong": "failed", "test_known": "skipped"}
    wrong = "torch:trace is silently wrong: result 0 is [-2.0, -4.0], but should be [-2.0, -3.0]"
    assert run.summary["errors"] == {"test_x.py::test_wrong": f"autotest.HazardError: {wrong}"}
    assert f"XFAIL test_x.py::test_known - {wrong}; it keeps one run" in run.out


def test_what_it_refuses() -> None:
    """Tensors themselves in place of a function that makes them, and a state that is no dict."""
    with pytest.raises(UsageError) as caught:
        hazard([1.0], other=list)  # type: ignore[arg-type]
    assert str(caught.value) == "first=[1.0], but should be a function that makes a call's tensors [@hazard(...)]"
    with pytest.raises(UsageError) as caught:
        hazard(list, other=3)  # type: ignore[arg-type]
    assert str(caught.value) == "other=3, but should be a function that makes a call's tensors [@hazard(...)]"
    with pytest.raises(UsageError) as caught:
        hazard(list, other=list, state=[1])  # type: ignore[arg-type]
    assert str(caught.value) == "state=[1], but should be a dict [@hazard(...)]"


DEADLY = """
import os
import sys
import time

import torch

from autotest import autotest, hazard, random_tensor
from autotest import torch as dual

def one():
    return (torch.tensor([1.0]),)


@hazard(one, other=one)
def test_abort(x):
    if torch.jit.is_tracing():
        os.abort()
    return x * 2


@hazard(one, other=one, known={"trace": "upstream issue 1"})
def test_known_abort(x):
    if torch.jit.is_tracing():
        os.abort()
    return x * 2


@hazard(one, other=one)
def test_hang(x):
    if torch.jit.is_tracing():
        time.sleep(60)
    return x * 2


@hazard(one, other=one)
def test_leak(x):
    if torch.jit.is_tracing():
        os.environ["LEAKED"] = sys.leaked = "yes"
    return x * 2


@hazard(one, other=one)
def test_raises(x):
    raise ValueError("no such x")


test_lambda = hazard(one, other=one)(lambda x: x * 2)


def test_inside(request):
    @hazard(one, other=one)
    def body(x):
        return x * 2

    body(request)


@autotest(n=1)
def test_program():
    return dual.relu(random_tensor(ndim=1)) * 1.5


def test_nothing_leaks():
    assert "LEAKED" not in os.environ
    assert not hasattr(sys, "leaked")
"""


@pytest.mark.slow
def test_ends_of_the_process_are_verdicts(tmp_path: Path) -> None:
    """An abort and a hang end the process of the hazards and one test; the others run in the next one. What a function
    leaves behind is not in pytest's process, nor in the target's, which replays programs.
    """
    run = run_pytest(tmp_path, {"test_x.py": DEADLY}, "-rxp", "--autotest-case-timeout", "5", target="torch:trace")
    assert run.outcomes() == {
        "test_abort": "failed",
        "test_known_abort": "skipped",
        "test_hang": "failed",
        "test_leak": "passed",
        "test_raises": "failed",
        "test_lambda": "passed",
        "test_program": "passed",
    }, run.out
    errors = {test.rpartition("::")[2]: error for test, error in run.summary["errors"].items()}
    abort = "torch:trace ends its process: killed by SIGABRT"
    assert errors == {
        "test_abort": f"autotest.HazardError: {abort}",
        "test_hang": "autotest.HazardError: torch:trace hangs: did not answer within 5 s and was killed",
        "test_raises": "autotest.HazardError: the function itself fails, without torch:trace: ValueError: no such x",
    }
    assert f"XFAIL test_x.py::test_known_abort - {abort}; upstream issue 1" in run.out
    # Neither of these two is a test of ours.
    assert (
        "test_x.py has no @hazard that is called test_inside, so that another process does not find it: "
        "define it at the top of the file, not inside of a function or a class" in run.out
    )
    assert "PASSED test_x.py::test_nothing_leaks" in run.out


def test_planted_fault(tmp_path: Path) -> None:
    """A fault that is planted in the executor of the other process is seen."""
    run = run_pytest(
        tmp_path, {"test_x.py": FILE}, target="torch:trace", env={"AUTOTEST_FAULT": "executor_faults:lost"}
    )
    message = "torch:trace is silently wrong: at the first call result 0 is [0.0, 0.0], but should be [2.0, 4.0]"
    assert run.summary["errors"]["test_x.py::test_right"] == f"autotest.HazardError: {message}"


def test_inline(tmp_path: Path) -> None:
    """With `--isolate never` the function runs in pytest's own process, where a debugger is."""
    printing = FILE.replace("return x * 2\n", "print('inside', os.getpid())\n    return x * 2\n", 1)
    here = "import os\n\n\ndef test_here():\n    print('here', os.getpid())\n"
    arguments = ("-s", "--autotest-isolate", "never")
    run = run_pytest(tmp_path, {"test_x.py": here + printing}, *arguments, target="torch:trace")
    assert run.outcomes() == {"test_right": "passed", "test_wrong": "failed", "test_known": "skipped"}
    numbers = {word: set(re.findall(rf"{word} (\d+)", run.out)) for word in ("inside", "here")}
    assert numbers["inside"] == numbers["here"] != set()
