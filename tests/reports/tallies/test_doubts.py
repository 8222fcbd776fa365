"""Undecidable cases are an outcome of their own: counted by op and reason, never red and never aligned."""

from __future__ import annotations

import pytest

from reports import Cell, junit_xml, markdown_text, render
from reports.page.index import _notices
from reports.records.shape import fault_of
from reports.tallies.doubts import OpDoubts

TIE = ["argmax", "eager_forward", "tie"]


@pytest.fixture
def doubted(summed, case, ended):
    """Give a function which sums up a run of so many cases of argmax, the first ones undecidable."""

    def make(undecidable: int, cases: int):
        records = []
        for index in range(cases):
            doubt = {"verdict": "undecidable", "reason": "argmax: tie", "undecidable": [TIE]}
            records += case(index=index, ops=["argmax"], dtypes=["float32"], **(doubt if index < undecidable else {}))
        return summed(*records, ended())

    return make


def test_counted_apart(doubted):
    """An undecidable case is a case, neither aligned nor divergent; the run is green."""
    summary = doubted(1, 3)
    assert (summary.cases, summary.aligned, summary.undecidable, summary.divergent) == (3, 2, 1, 0)
    assert summary.unexpected == 0
    assert summary.to_json()["doubts"] == [{"op": "argmax", "undecidable": 1, "cases": 3, "reasons": {"tie": 1}}]
    assert render(summary).startswith("aligned: 2 cases of 1 test, ")


def test_page_names_the_ops(doubted):
    """The page's list of the undecidable has every op, with its reasons."""
    assert ("Undecidable cases, by op", ["argmax: 1 of 3 cases have undecidable results (tie)"]) in _notices(
        doubted(1, 3)
    )


def test_matrix_has_its_own_outcome(doubted):
    """The cell of the doubted phase says so; the other phases of the case were compared and are aligned."""
    cells = doubted(1, 3).matrix.cells["argmax"]
    assert cells["eager_forward"] == Cell(aligned=2, undecidable=1)
    assert cells["eager_forward"].worst == "undecidable"
    assert cells["graph_forward"] == Cell(aligned=3)


@pytest.mark.parametrize(("undecidable", "cases", "told"), [(1, 50, False), (2, 99, True)])
def test_excessive_share_is_told(doubted, undecidable, cases, told):
    """More than two of a hundred cases of an op are told of by the op's name, fewer by their reason alone."""
    summary = doubted(undecidable, cases)
    sentence = f"argmax: {undecidable} of {cases} cases have undecidable results (tie)"
    assert (sentence in render(summary, 120)) is told
    [line] = [line.split() for line in render(summary, 120).splitlines() if line.startswith("  undecidable")]
    assert line == ["undecidable", str(undecidable), str(undecidable), "x", "tie"]
    assert (
        f"| | | `argmax`: {undecidable} of {cases} cases have undecidable results (tie) |" in markdown_text(summary)
    ) is told
    assert f'<property name="run.undecidable" value="{undecidable}" />' in junit_xml(summary)


def test_a_case_with_several_reasons_is_one(summed, case, ended):
    """The reasons beside the number of cases add up to it."""
    doubts = [TIE, ["sort", "eager_forward", "tie"], ["relu", "eager_backward", "rounding"]]
    summary = summed(*case(ops=["argmax"], verdict="undecidable", reason="", undecidable=doubts), ended())
    [line] = [line.split() for line in render(summary, 120).splitlines() if line.startswith("  undecidable")]
    assert line == ["undecidable", "1", "1", "x", "rounding,", "tie"]
    assert summary.to_json()["undecidable_reasons"] == {"rounding, tie": 1}


def test_run_without_doubts_is_silent(doubted):
    """Where all is decidable nothing speaks of it."""
    summary = doubted(0, 2)
    assert "undecidable" not in render(summary)
    assert "undecidable" not in markdown_text(summary)
    assert summary.doubts == ()


def test_several_reasons():
    """The sentence has an op's reasons, the commonest first."""
    row = OpDoubts("sort", 3, 12, (("tie", 2), ("overflow", 1)))
    assert str(row) == "sort: 3 of 12 cases have undecidable results (tie, overflow)"
    assert row.excessive


@pytest.mark.parametrize("found", ["tie", [["argmax", "tie"]], [["argmax", "eager_forward", 1]]])
def test_damaged_doubt(case, found):
    """A record whose doubts are no triples of texts is damaged."""
    end = case(undecidable=found)[1]
    assert fault_of(end) == f"undecidable={found!r}, but should be a list of op, phase and reason, or absent"
