"""summary.json has exactly its documented keys, and the worst kinds come first."""

from __future__ import annotations

from reports.summary import severity


def test_keys(summed, case, ended, row):
    """The keys of summary.json and of its rows are the documented ones."""
    end = case(verdict="divergent", divergences=[row(), row(level="known")])
    told = summed(*end, ended(outcome="failed")).to_json()
    assert set(told) == {
        *("cases", "aligned", "divergent", "rejected", "skipped", "crashed", "timed_out", "tests", "seconds"),
        *("seed", "graph", "environment", "divergences", "known", "complete", "running", "faults"),
        *("skipped_reasons", "rejected_reasons", "slowest", "matrix"),
    }
    assert told["graph"] == {"verified": 1, "backward_verified": 0, "skipped": {}}
    assert told["divergences"] == [{**row(), "count": 1}]
    assert told["known"] == [{**row(level="known"), "count": 1}]
    assert told["slowest"] == [{"test": "test_x.py::test_a", "seconds": 1.0}]


def test_severity_orders_kinds():
    """Crashes come first, an unknown kind before refusals, refusals last."""
    kinds = ["unsupported", "missing", "new_kind", "dtype", "value", "timeout", "crash"]
    assert sorted(kinds, key=severity) == kinds[::-1]
