"""`@hazard` in a test file: what it comes to on each kind of target."""

from __future__ import annotations

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
