"""Captures: how many cases came whole into a graph, told in each of the faces of a report."""

from __future__ import annotations

from typing import get_args

from dual_object.replay.observation import CaptureOutcome
from reports.exports.markdown import markdown_text
from reports.page.index import render_page
from reports.records.kinds import CAPTURES
from reports.tallies.captures import Captures
from reports.text.terminal import render


def graph(capture, reason=None, forward="verified"):
    """What a record has of one graph."""
    told = {"forward": forward, "backward": "off", "capture": capture}
    return told if reason is None else {**told, "capture_reason": reason}


def test_each_outcome_has_words():
    """What a worker may say of a capture is what the report counts, in one order."""
    assert tuple(CAPTURES) == get_args(CaptureOutcome)


def test_words_and_share():
    """Whole counts what was captured anew for other values, too; what there is none of is not said."""
    captures = Captures({"captured": 6, "recompiled": 1, "broken": 2, "refused": 1}, {"why": 3})
    assert captures.share == "70.0 %"
    assert captures.words == ("6 of 10 cases whole, 1 whole, but anew for other values, 2 with graph breaks, 1 refused")
    assert Captures({"captured": 1}).words == "1 of 1 case whole"
    assert (Captures({"captured": 1}).share, Captures().total) == ("100.0 %", 0)


def test_summary_and_its_faces(summed, case, ended):
    """Terminal, page, Markdown and summary.json tell the same; a refused case's reason stands among what was not
    verified, and nowhere twice.
    """
    graphs = [
        graph("captured"),
        graph("broken", "item"),
        graph("refused", "no such op", forward="no such op"),
        {"forward": "verified", "backward": "off"},
    ]
    summary = summed(*(record for i, g in enumerate(graphs) for record in case(index=i, graph=g)), ended())
    assert summary.captures == (Captures({"captured": 1, "broken": 1, "refused": 1}, {"item": 1, "no such op": 1}),)
    assert summary.to_json()["captures"] == {
        "captured": 1,
        "recompiled": 0,
        "broken": 1,
        "refused": 1,
        "reasons": {"item": 1, "no such op": 1},
    }
    shown = " ".join(render(summary, width=120).split())
    words = "1 of 3 cases whole, 1 with graph breaks, 1 refused"
    assert f" captured 33.3 % {words} 1 x item " in shown
    assert shown.count("no such op") == 1
    assert f"| captured | 33.3 % | {words} |" in markdown_text(summary)
    page = render_page(summary, "report/", "no run before", [])
    assert words in page
    assert '<td class="words">item</td>' in page
    without = summed(*case(graph={"forward": "verified", "backward": "off"}), ended())
    assert "captures" not in without.to_json()
    assert "captured" not in render(without, width=120)


def test_captures_of_several_executors(summed, case, ended):
    """Each executor has counts and reasons of its own, told under its name."""
    captures = {"torch:eager": ["broken", "item"], "torch:script": ["captured", ""]}
    record = {"forward": "verified", "backward": "off", "captures": captures}
    summary = summed(*case(graph=record), *case(index=1, graph=record), ended())
    assert [(one.executor, one.words) for one in summary.captures] == [
        ("torch:eager", "eager: 0 of 2 cases whole, 2 with graph breaks"),
        ("torch:script", "script: 2 of 2 cases whole"),
    ]
    assert summary.to_json()["captures"] == {
        "torch:eager": {"captured": 0, "recompiled": 0, "broken": 2, "refused": 0, "reasons": {"item": 2}},
        "torch:script": {"captured": 2, "recompiled": 0, "broken": 0, "refused": 0, "reasons": {}},
    }
    shown = " ".join(render(summary, width=120).split())
    assert " captured 0.0 % eager: 0 of 2 cases whole, 2 with graph breaks 2 x eager: item " in shown
    assert " captured 100.0 % script: 2 of 2 cases whole " in shown
    assert "| captured | 100.0 % | script: 2 of 2 cases whole |" in markdown_text(summary)
    page = render_page(summary, "report/", "no run before", [])
    assert "script: 2 of 2 cases whole" in page
    assert '<td class="words">eager: item</td>' in page
