"""In a browser: the report of a run that really ran, and of a great one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from dual_object.program.program import Program
from reports import RecordWriter, read_run, save_site, summarize
from support.runs import run_autotest

pytestmark = pytest.mark.slow

BODY = """
from autotest import autotest, random_tensor, torch

@autotest(n=3)
def test_lgamma():
    return torch.lgamma(random_tensor(ndim=2, low=0.5, high=4))

@autotest(n=3, coverage="none")
def test_relu():
    return torch.relu(random_tensor())
"""
CASES = 10_000


@pytest.fixture(scope="module")
def real(tmp_path_factory) -> Path:
    """Run two tests on OneFlow, of which one diverges, and give the report's folder."""
    folder = tmp_path_factory.mktemp("real")
    (folder / "test_real.py").write_text(BODY)
    ended = run_autotest(folder, "run", "test_real.py", "-n", "0")
    assert ended.returncode == 1, ended.stdout + ended.stderr
    divergences = json.loads((folder / "autotest-report" / "summary.json").read_text())["divergences"]
    assert [row["fingerprint"] for row in divergences] == ["oneflow/eager_backward/value/lgamma/float32"], ended.stdout
    return folder / "autotest-report"


def test_real_run(view, real):
    """A real divergence opens from the page of the last run, and its heat map is what PyTorch's own gradient says."""
    watched = view(real / "index.html", "#open=4701a54b")
    page = watched.page
    assert page.locator("h1").inner_text().startswith("DIVERGENT\n1 divergence in 1 of 2 tests, oneflow 0.9.0 against")
    row = page.locator(".row[data-id='4701a54b']")
    row.locator(".detail section").first.wait_for()
    shown = [float(title.rpartition(" ")[2]) for title in row.locator("svg .cell").all_text_contents()]
    # OneFlow's gradient is zero, so the error is the gradient itself: digamma times the cotangent.
    [path] = sorted(real.glob("runs/*/programs/4701a54b-main-1.json"))
    program, _ = Program.load(path)
    [x], [cotangent] = program.inputs, program.cotangents.values()
    expected = np.abs(torch.digamma(torch.from_numpy(x.data)).numpy() * cotangent)
    np.testing.assert_allclose(shown, expected.ravel(), rtol=1e-3, atol=1e-6)
    # What is shown is the shrunk program with its values, then the case's own; the repro is folded.
    programs = [text for text in row.locator("pre.program").all_inner_texts() if "def program" in text]
    assert [text.count("torch.lgamma(x)") for text in programs] == [1, 1]
    assert watched.errors == []


def test_real_run_has_coverage(view, real):
    """The coverage of a real run counts OneFlow's registered op types and those that ran."""
    page = view(real / "index.html", "#view=coverage").page
    page.locator("#view-coverage table").first.wait_for()
    words = page.locator("#view-coverage").inner_text()
    assert "of 661 op types registered in oneflow ran in this run" in words


@pytest.fixture(scope="module")
def great(tmp_path_factory) -> Path:
    """Write the records of ten thousand cases, a tenth of them divergent, and draw their report."""
    folder = tmp_path_factory.mktemp("great") / "runs" / "20260101-000000-0-1"
    versions = {"torch": "2.14.1", "oneflow": "0.9.0"}
    graph = {"forward": "verified", "backward": "off"}
    with RecordWriter(folder, "main", seed=0, target="oneflow", environment=versions, command="autotest run") as writer:
        for number in range(CASES):
            test, op = f"suites/test_family{number % 10}.py::test_op{number % 500}", f"op{number % 500}"
            key = f"{test}#{number // 500}"
            fact = f"oneflow/eager_forward/value/{op}/fact{number}"
            row = {"id": f"{number:08x}", "fingerprint": fact, "target": "oneflow", "test": test, "op": op}
            row |= {"phase": "eager_forward", "kind": "value", "level": "wrong", "reason": None, "case_key": key}
            row |= {"message": f"{op}: t0 differs", "replay": f"autotest replay {number:08x}", "evidence": None}
            rows = [row] if number % 10 == 0 else []
            verdict = "divergent" if rows else "aligned"
            writer.start(test, key, number // 500)
            writer.end(test, key, verdict, ops=[op], dtypes=["float32"], graph=graph, seconds=0.01, divergences=rows)
        for number in range(500):
            writer.test(f"suites/test_family{number % 10}.py::test_op{number}", 1.0, "failed", 3)
    return save_site(folder, summarize(read_run(folder)))


def test_ten_thousand_cases(view, great):
    """A thousand divergences are counted, shown in parts, filtered, and each opens its own file."""
    watched = view(great)
    page = watched.page
    assert page.locator("h1").inner_text().startswith("DIVERGENT\n1,000 divergences in 50 of 500 tests")
    assert page.locator("#view-divergences .row").count() == 200
    page.evaluate("location.hash = '#text=fact4320&open=000010e0'")
    row = page.locator(".row[data-id='000010e0']")
    row.locator(".detail section").first.wait_for()
    assert page.locator("#view-divergences .row").count() == 1
    assert page.locator("[role=status]").first.inner_text() == "1 of 1,000 shown"
    assert "autotest replay 000010e0" in row.inner_text()
    assert watched.errors == []
