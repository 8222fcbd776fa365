"""The survey of a test's errors measures what was accepted, on the reference itself and against float64."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest
import torch as real
from click.testing import CliRunner

from autotest import dual_tensor, torch
from autotest.cases.case import Case
from autotest.cases.drawer import Drawer
from autotest.cli import main
from autotest.judge.survey import Survey
from autotest.options import TestOptions
from dual_object.adapters.torch.adapter import Adapter


def drawn(reference: Adapter, options: TestOptions) -> Case:
    """A case of `exp` with gradients."""

    def body() -> object:
        return torch.exp(dual_tensor(real.tensor([1.0, 2.0], requires_grad=True)))

    case = Drawer(reference, "test_x.py::test_exp", 0, "torch", options, body).draw(0)
    assert isinstance(case, Case)
    return case


def test_error_is_measured(reference: Adapter) -> None:
    """One error of 1e-4 of e**2, allowed 7.5e-4 of it by the table; both sides are held against float64."""
    options = TestOptions(n=1)
    case = drawn(reference, options)
    answer = copy.deepcopy(case.reference)
    [shown] = answer.outputs.values()
    shown.data = shown.data + np.array([0, 1e-4], np.float32)
    survey = Survey(reference, options, exact=True)
    survey.take(case, answer)
    forward, backward = sorted(survey.rows(), key=lambda row: str(row["phase"]), reverse=True)
    assert (forward["op"], forward["dtype"], forward["device"], forward["phase"]) == (
        *("exp", "float32", "cpu", "eager_forward"),
    )
    assert forward["key"] == "test_x.py::test_exp#0"
    allowed = 1e-5 + 1e-4 * np.exp(2.0)
    assert forward["share"] == pytest.approx(1e-4 / allowed, rel=1e-2)
    assert forward["ulp"] == pytest.approx(1e-4 / 2**-21, abs=1)
    assert forward["reference"] == pytest.approx(0.0, abs=1e-2)
    assert forward["target"] == pytest.approx(1e-4 / allowed, rel=1e-2)
    assert (backward["phase"], backward["share"], backward["ulp"]) == ("eager_backward", 0.0, 0.0)


def test_divergent_element_is_not_measured(reference: Adapter) -> None:
    """What is not accepted says nothing of what is needed; without `exact` nobody is asked in float64."""
    options = TestOptions(n=1)
    case = drawn(reference, options)
    answer = copy.deepcopy(case.reference)
    [shown] = answer.outputs.values()
    shown.data = shown.data + np.array([0, 1], np.float32)
    survey = Survey(reference, options, exact=False)
    survey.take(case, answer, graph=True)
    rows = {row["phase"]: row for row in survey.rows()}
    assert set(rows) == {"graph_forward", "graph_backward"}
    assert (rows["graph_forward"]["share"], rows["graph_forward"]["reference"]) == (0.0, None)


def test_command(tmp_path, monkeypatch) -> None:
    """`autotest tolerances` prints the table and keeps it as JSON in the run's folder."""
    (tmp_path / "test_exp.py").write_text(
        "from autotest import autotest, random_tensor, torch\n\n"
        "@autotest(n=2, check_graph=False, coverage='none')\n"
        "def test_exp():\n    return torch.exp(random_tensor(ndim=1))\n"
    )
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["tolerances", "test_exp.py", "--target", "torch", "-n", "0"])
    assert done.exit_code == 0, done.output
    [path] = tmp_path.glob("autotest-report/runs/*/tolerances.json")
    rows = json.loads(path.read_text())
    assert [(row["op"], row["phase"], row["share"], row["ulp"]) for row in rows] == [
        ("exp", "eager_backward", 0.0, 0.0),
        ("exp", "eager_forward", 0.0, 0.0),
    ]
    assert all(0 < row["reference"] < 0.01 and row["reference"] == row["target"] for row in rows)
    assert f"tolerances: {path.relative_to(tmp_path)}" in done.output
