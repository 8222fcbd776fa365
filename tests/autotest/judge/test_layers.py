"""`--lower-layers`: layers once more as the functions that they call, on a target that has both."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.runs import Outcome, run_pytest

BODIES = """
from autotest import autotest, random_tensor, torch

@autotest(n=3)
def test_linear():
    return torch.tanh(torch.nn.Linear(3, 4)(random_tensor(ndim=2, dim1=3)))

@autotest(n=3)
def test_averaging():
    return torch.nn.BatchNorm1d(3, momentum=None)(random_tensor(ndim=2, dim0=4, dim1=3))

@autotest(n=3)
def test_dropout():
    return torch.nn.Dropout()(random_tensor(ndim=2))

@autotest(n=3)
def test_functions():
    return torch.tanh(random_tensor(ndim=2))
"""
LINEAR = ("eager_backward", "value", "linear")


def layers(folder: Path, *arguments: str, fault: str = "", asked: bool = True) -> Outcome:
    """A run of the bodies on PyTorch."""
    option = ["--autotest-lower-layers"] if asked else []
    env = {"AUTOTEST_FAULT": f"moduleless_faults:{fault}"} if fault else {}
    return run_pytest(folder, {"test_layers.py": BODIES}, *option, *arguments, env=env)


def lowered(outcome: Outcome, test: str) -> set[str | None]:
    """What became of the functions of a test's aligned cases."""
    return {end["graph"].get("lowered") for end in outcome.ends(test) if end["verdict"] == "aligned"}


def test_sound(tmp_path: Path) -> None:
    """Functions of layers are aligned, or the records say why nobody looked; a body without layers has nothing to
    look at.
    """
    run = layers(tmp_path)
    assert run.status == 0, run.out
    assert lowered(run, "test_linear") == {"verified"}
    assert lowered(run, "test_averaging") == {"BatchNorm1d reads values to Python by Tensor.__float__"}
    assert lowered(run, "test_dropout") == {"it draws random numbers"}
    assert lowered(run, "test_functions") == {None}
    ends = [end for name in ("linear", "averaging", "dropout") for end in run.ends(f"test_{name}")]
    checks = [end["graph"]["lowered"] for end in ends if "lowered" in (end["graph"] or {})]
    counts = f"{checks.count('verified')} of {len(checks)} cases with layers, as the functions"
    assert counts in " ".join(run.out.split())


@pytest.mark.parametrize("asked", [True, False])
def test_fault_of_a_function(asked: bool, tmp_path: Path) -> None:
    """A function that the target's own layer does not call is wrong: only who asks for it sees it, with the layer that
    PyTorch's calls it in.
    """
    run = layers(tmp_path, "-k", "linear", fault="linear_gradient", asked=asked)
    assert run.status == (1 if asked else 0), run.out
    assert run.rows("test_linear") == ({LINEAR} if asked else set())
    if asked:
        assert all(message.endswith("; within Linear, which does not") for message in run.messages("test_linear"))


def test_fault_of_a_layer(tmp_path: Path) -> None:
    """Where the layer itself is wrong, it is blamed, and the function within it is named."""
    run = layers(tmp_path, "-k", "linear", fault="linear_everywhere")
    assert run.status == 1
    assert {op for _, _, op in run.rows("test_linear")} == {"Linear"}
    first = next(row["message"] for end in run.ends("test_linear") for row in end["divergences"])
    assert first.endswith("; within it nn.functional.linear does")


def test_a_layer_without_being_asked(tmp_path: Path) -> None:
    """The layer is blamed alone."""
    run = layers(tmp_path, "-k", "linear", fault="linear_everywhere", asked=False)
    assert run.status == 1
    assert not any("within" in message for message in run.messages("test_linear"))
    assert lowered(run, "test_linear") <= {None}
