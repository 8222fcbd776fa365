"""The first line says in words how the run went."""

from __future__ import annotations

from typing import Any

import pytest

from reports import headline, junit_xml, markdown_text, render
from reports.findings.verdict import broken
from reports.page.index import render_page

BOTH = "oneflow 0.9.0 against torch 2.14.1"


def test_aligned(summed, case, ended):
    """A run without faults tells its cases and tests."""
    assert headline(summed(*case(), ended())) == f"aligned: 1 case of 1 test, {BOTH}"


def test_aligned_with_known(summed, case, ended, row):
    """Known divergences do not fail a run, but the line says of how many ops there are some."""
    records = [*case(), *case(index=1, verdict="divergent", divergences=[row(level="known")])]
    words = headline(summed(*records, ended()))
    assert words == f"aligned: 1 case of 1 test, {BOTH}; nothing new, 1 op is known to diverge"
    rows = [row(level="known", fingerprint=f"f/{number}", op=f"op_{number % 2}") for number in range(3)]
    words = headline(summed(*case(verdict="divergent", divergences=rows), ended()))
    assert words == f"nothing compared: no case aligned, {BOTH}; nothing new, 2 ops are known to diverge"


def test_divergent(summed, case, ended, row):
    """Divergences are counted by fingerprint and test."""
    records = case(verdict="divergent", divergences=[row(), row(fingerprint="f")])
    words = headline(summed(*records, ended(), ended("t::b")))
    assert words == f"DIVERGENT: 2 divergences in 1 of 2 tests, {BOTH}"


@pytest.mark.parametrize(
    ("verdict", "way"), [("crashed", "crashed"), ("timed_out", "timed-out"), ("divergent", "divergent")]
)
def test_bad_cases_without_rows(summed, case, ended, verdict, way):
    """A run of only crashes is not called aligned."""
    words = headline(summed(*case(verdict=verdict), ended()))
    assert words == f"DIVERGENT: 1 {way} case in 1 of 1 test, {BOTH}"


def test_divergent_beside_other_failures(summed, case, ended, row):
    """What failed without a divergence is counted beside those that diverge."""
    records = case(verdict="divergent", divergences=[row()])
    words = headline(summed(*records, ended(outcome="failed"), ended("t::b", outcome="failed"), ended("t::c")))
    assert words == f"DIVERGENT: 1 divergence in 1 of 3 tests, 1 failed otherwise, {BOTH}"


def test_what_a_divergent_test_raised_besides(summed, case, ended, row):
    """A test that diverges and raises is told of both; one that only diverges raises what tells of that."""
    records = case(verdict="divergent", divergences=[row()])
    summary = summed(*records, {**ended(outcome="failed"), "error": "autotest.UsageError: no"})
    assert headline(summary) == f"DIVERGENT: 1 divergence in 1 of 1 test, 1 failed otherwise, {BOTH}"
    assert (summary.failures, summary.failed_title) == (
        ("test_x.py::test_a: autotest.UsageError: no",),
        "Failed otherwise",
    )
    assert "Failed otherwise\n  test_x.py::test_a: autotest.UsageError: no\n" in render(summary, 120)
    assert "**Failed otherwise**" in markdown_text(summary)
    assert "autotest.UsageError: no" in junit_xml(summary)
    assert summed(*records, ended(outcome="failed")).failures == ()


def test_failed(summed, case, ended):
    """A failed test or a fault of the harness is not called aligned."""
    fault = {"type": "fault", "test": None, "message": "m"}
    words = headline(summed(*case(), ended(outcome="failed"), fault, fault))
    assert words == (f"FAILED: 1 of 1 test failed without a divergence and 2 faults of the harness, {BOTH}")


def test_unfinished(summed, case, ended):
    """A killed run says what was running and how far it came."""
    words = headline(summed(*case(), case(index=1)[0]))
    assert words == "UNFINISHED: 1 case was still running; so far 1 case of 1 test aligned"
    words = headline(summed(*case(), *case("t::b", verdict="crashed"), ended()))
    assert words == "UNFINISHED: 1 test did not end; so far 1 crashed case in 1 of 2 tests"
    words = headline(summed(*case(), ended(outcome="failed"), b"x\n"))
    assert words == ("UNFINISHED: some records are damaged; so far 1 of 1 test failed without a divergence")
    stop = {"type": "stop", "test": "t::a", "message": "target 'x' cannot be imported"}
    words = headline(summed(*case(), case("t::b", index=1)[0], stop, stop, ended()))
    assert words == (
        "UNFINISHED: target 'x' cannot be imported and 1 case was still running; so far 1 case of 2 tests aligned"
    )


def test_nothing_compared(summed, case, ended):
    """A run which compared nothing is not called aligned."""
    assert headline(summed()) == f"nothing compared: no test ran, {BOTH}"
    assert headline(summed(ended())) == f"nothing compared: no case ran in 1 test, {BOTH}"
    skipped = case(verdict="skipped", reason="r")
    words = headline(summed(*skipped, ended()))
    assert words == f"nothing compared: no case aligned, 1 of 1 case skipped, {BOTH}"
    words = headline(summed(*case(verdict="rejected"), ended()))
    assert words == f"nothing compared: no case ran, 1 draw rejected, {BOTH}"


def test_target_that_looks_broken(summed: Any, case: Any, row: Any, ended: Any) -> None:
    """More than half of the cases red, in at least three tests, is said before all else, with the commonest message."""

    def red(test: str, count: int, message: str) -> list[Any]:
        found = [row(test=test, message=message, fingerprint=f"oneflow/eager_forward/exception/{message}/float32")]
        rows = [case(test, index, verdict="divergent", divergences=found) for index in range(count)]
        return [*(record for pair in rows for record in pair), ended(test, outcome="failed")]

    some = [*red("t::a", 1, "add: add raised RuntimeError: no device"), *red("t::b", 2, "dot: x differs")]
    summary = summed(*some)
    assert broken(summary) is None
    some += red("t::c", 2, "mul: mul raised RuntimeError: no device")
    summary = summed(*some, *case("t::d"), ended("t::d"))
    words = "the target looks broken: 5 of 6 cases are red; the commonest message (3 times) is RuntimeError: no device"
    assert broken(summary) == words
    assert render(summary, width=200).splitlines()[0] == words
    assert markdown_text(summary).splitlines()[0] == (
        "**the target looks broken: 5 of 6 cases are red; the commonest message (3 times) is **"
        "`RuntimeError: no device`"
    )
    assert f'<p class="broken bad">{words}</p>' in render_page(summary, "report/", "nothing", [])
    failed = [record for test in "hij" for record in (*case(f"t::{test}"), ended(f"t::{test}", outcome="failed"))]
    assert broken(summed(*failed)) is None
    rest = [record for test in "efghk" for record in (*case(f"t::{test}"), ended(f"t::{test}"))]
    assert broken(summed(*some, *rest)) is None
