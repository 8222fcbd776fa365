"""The ways to write a call: a test stands only where PyTorch tells another one."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

SUITES = Path(__file__).parents[2] / "suites"


@pytest.mark.slow
def test_only_what_can_be_written_otherwise_is_a_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """`abs` takes its tensor by name and has no default; `softplus` has two."""
    monkeypatch.syspath_prepend(SUITES)
    suite = importlib.import_module("test_signatures")
    ids = {
        test: {param.id for mark in getattr(suite, test).pytestmark for param in mark.args[1]}
        for test in ("test_keywords", "test_defaults", "test_errors")
    }
    every = {spelled for spelled, _ in suite.FUNCTIONS}
    assert ids["test_errors"] == every
    assert "torch.abs" in ids["test_keywords"] - ids["test_defaults"]
    assert ids["test_keywords"] < every
    assert ids["test_defaults"] < every
    assert "torch.nn.functional.softplus" in ids["test_defaults"]


def test_layers_by_default_are_those_that_can_leave_something_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """`Tanh` has no argument, and what `GRU` must be given its signature does not say; random layers are left alone."""
    monkeypatch.syspath_prepend(SUITES)
    suite = importlib.import_module("test_signatures")
    names = {layer.name for layer in suite.LAYERS}
    assert {"BatchNorm2d", "CosineSimilarity", "GELU", "MaxPool2d", "Softmax", "TripletMarginLoss"} <= names
    assert not names & {"AlphaDropout", "GRU", "RReLU", "Tanh"}
    assert {"Tensor.flatten", "Tensor.sort", "Tensor.std"} <= {spelled for spelled, _ in suite.METHODS}


def test_constructions_leave_out_all_and_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """What must be given stays; what is given by name is left out alone, too."""
    monkeypatch.syspath_prepend(SUITES)
    signatures, rows = importlib.import_module("signatures"), importlib.import_module("rows")
    ways = [*signatures.constructions("AvgPool2d", rows.args(3, padding=1, count_include_pad=False))]
    assert ways == [
        rows.args(kernel_size=3),
        rows.args(3, count_include_pad=False),
        rows.args(3, padding=1),
    ]
