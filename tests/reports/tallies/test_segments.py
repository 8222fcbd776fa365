"""Every case is in exactly one segment of its run."""

from __future__ import annotations

from typing import Any

import pytest

from reports.records.shape import LEVELS, VERDICTS
from reports.tallies.segments import Segments, segment_of


@pytest.mark.parametrize(
    ("verdict", "rows", "place"),
    [
        ("aligned", [], ("aligned", "")),
        ("undecidable", [], ("undecidable", "")),
        ("skipped", [], ("skipped", "")),
        ("rejected", [("wrong", "value")], None),
        ("divergent", [("wrong", "value")], ("new", "wrong")),
        ("divergent", [("refuses", "missing")], ("new", "refuses")),
        ("divergent", [("refuses", "missing"), ("wrong", "dtype")], ("new", "wrong")),
        ("divergent", [("known", "crash"), ("wrong", "dtype")], ("new", "wrong")),
        ("divergent", [("known", "value"), ("known", "unsupported")], ("known", "wrong")),
        ("divergent", [("known", "unsupported")], ("known", "refuses")),
        ("crashed", [("known", "value"), ("known", "crash")], ("known", "crashed")),
        ("timed_out", [("wrong", "timeout")], ("new", "crashed")),
        ("divergent", [("known", "value"), ("counted", "missing")], ("counted", "refuses")),
        ("divergent", [("counted", "missing"), ("stricter", "layout")], ("stricter", "wrong")),
        ("divergent", [], ("new", "wrong")),
        ("crashed", [], ("new", "crashed")),
        ("out_of_memory", [], ("new", "crashed")),
    ],
)
def test_segment(row: Any, verdict: str, rows: list[tuple[str, str]], place: tuple[str, str] | None) -> None:
    """The worst level of a case's divergences says its segment, the worst kind of that level its way."""
    told = [row(level=level, kind=kind) for level, kind in rows]
    assert segment_of({"verdict": verdict, "divergences": told}) == place


def test_numbers_add_up(summed: Any, case: Any, row: Any, ended: Any) -> None:
    """One case of each verdict, and of each level: the segments hold all of them, each once, and no rejected draw."""
    records = [r for index, verdict in enumerate(VERDICTS) for r in case(index=index, verdict=verdict)]
    for index, level in enumerate(LEVELS, len(VERDICTS)):
        records += case(index=index, verdict="divergent", divergences=[row(level=level)])
    summary = summed(*records, ended())
    assert sum(summary.segments.cases.values()) == summary.cases == len(VERDICTS) - 1 + len(LEVELS)
    assert dict(summary.segments.cases) == {
        "aligned": 1, "undecidable": 1, "known": 1, "counted": 1, "stricter": 1, "new": 6, "skipped": 1,
    }  # fmt: skip
    assert summary.segments.cases["new"] == summary.unexpected
    assert summary.to_json()["segments"] == summary.segments.to_json()


def test_tests_of_a_run(summed: Any, case: Any, row: Any, ended: Any) -> None:
    """The cases of the tests are those of the run, by segment and way; words say which ways there are."""
    rows = [row(level="known"), row(level="known", kind="crash"), row(level="known", kind="missing")]
    records = [
        *(r for index in range(3) for r in case("t::b", index, verdict="divergent", divergences=[rows[index % 2]])),
        *case("t::a", 3),
        *case("t::a", 4, verdict="divergent", divergences=[row()]),
    ]
    segments = summed(*records, ended("t::a"), ended("t::b")).segments
    assert segments.tests == {
        "t::a": {("aligned", ""): 1, ("new", "wrong"): 1},
        "t::b": {("known", "wrong"): 2, ("known", "crashed"): 1},
    }
    assert segments.places == [("aligned", ""), ("known", "crashed"), ("known", "wrong"), ("new", "wrong")]
    assert [segments.words(name) for name in ("aligned", "known", "new")] == ["", "2 wrong, 1 crashed", "wrong"]
    assert Segments(ways={"new": {"refuses": 7}}).words("new") == "all refuses"
