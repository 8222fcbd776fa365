"""A run on one of PyTorch's executors, from the command line to the report."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.runs import run_autotest, run_pytest

pytestmark = pytest.mark.slow

FILE = """
from autotest import autotest, random, random_tensor, torch


@autotest(n=4, coverage="none")
def test_matmul():
    k = random(1, 6)
    return torch.matmul(random_tensor(ndim=2, dim1=k), random_tensor(ndim=2, dim0=k))


@autotest(n=2, coverage="none")
def test_item():
    x = random_tensor(ndim=1, low=1, high=2)
    return x * x.sum().item()


@autotest(n=2, coverage="none", fullgraph=True)
def test_whole():
    x = random_tensor(ndim=1, low=1, high=2)
    return x * x.sum().item()


@autotest(n=2, coverage="none")
def test_batch_norm():
    return torch.nn.BatchNorm1d(3)(random_tensor(ndim=2, dim0=random(2, 5), dim1=3))
"""
BREAK = "Unsupported Tensor.item() call with capture_scalar_outputs=False"


def test_run(tmp_path: Path) -> None:
    """Cases are verified in what Dynamo captured, and told by what it captured; a break is red where the test wants one
    graph.
    """
    run = run_pytest(tmp_path, {"test_it.py": FILE}, target="torch:aot_eager")
    assert run.status == 1, run.out
    assert run.outcomes() == {
        "test_matmul": "passed",
        "test_item": "passed",
        "test_whole": "failed",
        "test_batch_norm": "passed",
    }
    summary = run.summary
    assert summary["graph"] == {"verified": 10, "backward_verified": 10, "skipped": {}}
    assert summary["captures"] == {
        "captured": 6,
        "recompiled": 0,
        "broken": 4,
        "refused": 0,
        "reasons": {BREAK: 4},
    }
    assert run.rows("test_whole") == {("graph_forward", "unsupported", "program")}
    assert run.messages("test_whole") == {f"program: the program is not captured in one graph: {BREAK}"}
    [row] = {row["fingerprint"] for row in summary["divergences"]}
    assert row == "torch:aot_eager/graph_forward/unsupported/program/float32"
    assert "captured         60.0 %  6 of 10 cases whole, 4 with graph breaks" in run.out
    page = (tmp_path / "autotest-report" / "index.html").read_text()
    assert "6 of 10 cases whole, 4 with graph breaks" in page
    replayed = run_autotest(tmp_path, "replay", summary["divergences"][0]["id"])
    assert replayed.returncode == 1, replayed.stdout
    assert "stands: 1 divergence in 1 of 1 case" in replayed.stdout
    assert "not captured in one graph, because" in page


def test_planted_fault_is_red(tmp_path: Path) -> None:
    """What a graph computes wrong is red, whether its cases run together or alone, and blames the op; a name that is no
    executor's is refused with those that are.
    """
    run = run_pytest(
        tmp_path,
        {"test_it.py": FILE},
        "-k",
        "matmul or batch_norm",
        target="torch:fx",
        env={"AUTOTEST_FAULT": "executor_faults:doubled"},
    )
    assert run.status == 1, run.out
    assert run.verdicts("test_matmul") == {"divergent": 4}
    assert ("graph_forward", "value", "matmul") in run.rows("test_matmul")
    assert run.verdicts("test_batch_norm") == {"divergent": 2}
    unknown = run_pytest(tmp_path / "unknown", {"test_it.py": FILE}, target="torch:aot")
    assert unknown.status == 4
    assert (
        "executor='aot', but should be one of fx, make_fx, trace, script, eager, aot_eager, "
        "aot_eager_decomp_partition, inductor, export, export_decomp, lazy, refs, meta, fake, onnxruntime, iree "
        "[--target torch:EXECUTOR]"
    ) in unknown.out


def test_buffers_that_cannot_be_seen(tmp_path: Path) -> None:
    """What an executor does not show of a module is not counted as verified."""
    run = run_pytest(tmp_path, {"test_it.py": FILE}, "-k", "batch_norm", target="torch:meta")
    assert run.status == 0, run.out
    assert [row["graph"]["state"] for row in run.ends("test_batch_norm")] == ["torch:meta shows none"] * 2
