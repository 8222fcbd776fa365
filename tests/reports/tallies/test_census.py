"""What became of each op, by whose tests: each outcome of a case is told apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reports import read_run
from reports.tallies.census import CensusTally, Found, Owner, status_of

Tallied = Callable[..., dict[str, dict[Owner, Found]]]


@pytest.fixture
def end(case: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function which makes the end of a case of relu, with its verdict and divergences."""

    def make(verdict: str, *rows: dict[str, Any], **fields: Any) -> dict[str, Any]:
        record: dict[str, Any] = case(verdict=verdict, divergences=[*rows], **fields)[-1]
        return record

    return make


@pytest.fixture
def tallied(lay: Callable[..., Path], header: Callable[..., dict[str, Any]]) -> Tallied:
    """Give a function which adds up records; a test is owned by its file."""

    def make(*lines: dict[str, Any]) -> dict[str, dict[Owner, Found]]:
        tally = CensusTally(lambda test: Owner(test.partition("::")[0], ""))
        tally.take(read_run(lay(header(), *lines)))
        return tally.found

    return make


def one(found: dict[str, dict[Owner, Found]], op: str) -> Found:
    """What one owner has found of an op."""
    [held] = found[op].values()
    return held


@pytest.mark.parametrize(
    ("kind", "level", "status"),
    [
        ("value", "wrong", "wrong"),
        ("value", "known", "wrong"),
        ("crash", "wrong", "wrong"),
        ("unsupported", "known", "refused"),
        ("unsupported", "refuses", "refused"),
        ("missing", "counted", "lacking"),
        ("unmapped", "counted", "lacking"),
    ],
)
def test_divergences(
    tallied: Tallied, end: Callable[..., Any], row: Callable[..., Any], kind: str, level: str, status: str
) -> None:
    """What is wrong is wrong though it is known; what a target says that it lacks or does not support is not."""
    found = one(tallied(end("divergent", row(kind=kind, level=level))), "relu")
    assert found.status == status
    assert found.outcomes["eager_forward"] == {status: 1}
    assert found.kinds == ({kind: 1} if status == "wrong" else {})


def test_the_worst_is_told(tallied: Tallied, end: Callable[..., Any], row: Callable[..., Any]) -> None:
    """A case that shows both something wrong and a refusal is wrong; an op with an aligned case is not refused."""
    both = [row(kind="unsupported", level="known"), row(kind="value")]
    assert one(tallied(end("divergent", *both)), "relu").status == "wrong"
    refused = end("divergent", row(kind="unsupported", level="known"))
    assert one(tallied(refused, end("aligned")), "relu").status == "aligned"
    assert status_of([{"undecidable": 3}]) == "unknown"


def test_phases(tallied: Tallied, end: Callable[..., Any], row: Callable[..., Any]) -> None:
    """Each phase has a status of its own."""
    graph = {"forward": "verified", "backward": "verified"}
    wrong = row(phase="graph_backward", kind="grad_missing")
    found = one(tallied(end("divergent", wrong, graph=graph)), "relu")
    assert found.statuses == {
        "eager_forward": "aligned",
        "graph_forward": "aligned",
        "eager_backward": "aligned",
        "graph_backward": "wrong",
    }


@pytest.mark.parametrize(
    ("reason", "status"),
    [
        ("oneflow says that it does not support bfloat16 there", "refused"),
        ("the target lacks what case #3 calls, too", "lacking"),
        ("a call of this form has ended the target in case #3", "unknown"),
    ],
)
def test_skipped(tallied: Tallied, end: Callable[..., Any], reason: str, status: str) -> None:
    """A case that was skipped counts by what the target has said."""
    assert one(tallied(end("skipped", reason=reason)), "relu").status == status


def test_owners_and_cells(tallied: Tallied, end: Callable[..., Any]) -> None:
    """Each owner's tests are counted apart; what they have found and reached adds up."""
    cells = {"float32 2 contiguous ordinary": [3, 2, 0, 1, 0, 0]}
    reached = {
        "type": "reached",
        "test": "test_y.py::test_b",
        "laid_out": {"cases": 0, "spared": 0, "refused": 0, "pairs": 0, "covered": 0},
        "groups": [{"ops": ["relu"], "cells": cells}],
        "time": 5.0,
    }
    found = tallied(end("aligned"), end("aligned", test="test_y.py::test_b"), reached, reached)["relu"]
    assert {owner.source: len(held.tests) for owner, held in found.items()} == {"test_x.py": 1, "test_y.py": 1}
    both = Found()
    for held in found.values():
        both.add(held)
    assert both.outcomes["eager_forward"] == {"aligned": 2}
    assert [*both.space.cells.values()] == [(6, 4, 0, 2, 0, 0)]


def test_an_attribute_is_no_call(tallied: Tallied, end: Callable[..., Any]) -> None:
    """A case that calls nothing, such as one of `x.T`, counts for who draws it."""
    assert one(tallied(end("aligned", ops=[], dtypes=[])), "").status == "aligned"
