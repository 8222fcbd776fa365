"""The ways to write a call: a test stands only where PyTorch tells another one."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

SUITES = Path(__file__).parents[2] / "suites"


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
