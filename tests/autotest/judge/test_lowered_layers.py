"""A run against a target without modules: layers are tested by their functions, and a fault of one is found there."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.runs import run_pytest

pytestmark = pytest.mark.slow

BODIES = """
from autotest import autotest, random, random_tensor, torch

@autotest(n=3)
def test_linear():
    layer = torch.nn.Linear(3, 4)
    return torch.tanh(layer(random_tensor(ndim=2, dim1=3)))

@autotest(n=3)
def test_recurrent():
    return torch.nn.GRU(3, 4)(random_tensor(ndim=3, dim2=3))[0]

@autotest(n=2)
def test_attention():
    x = random_tensor(ndim=3, dim2=4)
    return torch.nn.MultiheadAttention(4, 2)(x, x, x)[0]

@autotest(n=2)
def test_averaging():
    return torch.nn.BatchNorm1d(3, momentum=None)(random_tensor(ndim=2, dim0=4, dim1=3))

@autotest(n=2)
def test_both():
    size = random(3, 5)
    layer = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh())
    return layer(random_tensor(ndim=2, dim0=size, dim1=3))
"""
REASON = "the target moduleless has no modules: BatchNorm1d reads values to Python by Tensor.__float__"


def test_sound(tmp_path: Path) -> None:
    """Layers are aligned, eagerly and in graphs; one that cannot be lowered is skipped, with the reason."""
    run = run_pytest(tmp_path, {"test_layers.py": BODIES}, target="moduleless:Adapter")
    assert run.status == 0, run.out
    for test, count in {"test_linear": 3, "test_recurrent": 3, "test_attention": 2, "test_both": 2}.items():
        assert run.verdicts(test)["aligned"] >= count
        assert set(run.verdicts(test)) <= {"aligned", "rejected"}
        graphs = {end["graph"]["forward"] for end in run.ends(test) if end["verdict"] == "aligned" and end["graph"]}
        assert "verified" in graphs
    assert run.outcomes()["test_averaging"] == "skipped"
    assert {(end["verdict"], end["reason"]) for end in run.ends("test_averaging")} == {("skipped", REASON)}
    assert REASON in " ".join(run.out.split())


def test_fault_of_a_gradient(tmp_path: Path) -> None:
    """A wrong gradient of a function is blamed on the layer that calls it, and the function is named."""
    run = run_pytest(
        *(tmp_path, {"test_layers.py": BODIES}, "-k", "linear or both or recurrent"),
        target="moduleless:Adapter",
        env={"AUTOTEST_FAULT": "moduleless_faults:linear_gradient"},
    )
    assert run.status == 1
    assert run.rows("test_linear") == {("eager_backward", "value", "Linear")}
    assert run.rows("test_both") == {("eager_backward", "value", "Sequential")}
    assert run.rows("test_recurrent") == set()
    for test in ("test_linear", "test_both"):
        # The first case of a test is looked into; the others are told as they are.
        message = next(row["message"] for end in run.ends(test) for row in end["divergences"])
        assert message.endswith("; within it nn.functional.linear does"), message
