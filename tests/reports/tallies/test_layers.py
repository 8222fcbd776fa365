"""Layers as the functions that they call: how they are counted, and told in each of the faces of a report."""

from __future__ import annotations

import pytest

from reports.exports.markdown import markdown_text
from reports.page.index import render_page
from reports.tallies.layers import Layers
from reports.text.terminal import render


@pytest.mark.parametrize(
    ("layers", "share", "words"),
    [
        (Layers(1), "100.0 %", "1 of 1 case with layers, as the functions that they call"),
        (
            Layers(1500, {"it trains": 500}),
            "75.0 %",
            "1,500 of 2,000 cases with layers, as the functions that they call",
        ),
        (Layers(0, {"it trains": 2}), "0.0 %", "0 of 2 cases with layers, as the functions that they call"),
    ],
)
def test_words(layers, share, words):
    """Of those that were asked for, how many were judged."""
    assert (layers.share, layers.words) == (share, words)


def test_summary_and_its_faces(summed, case, ended):
    """Terminal, page, Markdown and summary.json tell the same; the terminal says why others were not judged."""
    checks = ["verified", "it trains", "its eager run failed", "it trains"]
    graphs = [{"forward": "verified", "backward": "off", "lowered": check} for check in checks]
    graphs.append({"forward": "verified", "backward": "off"})
    summary = summed(*(record for i, g in enumerate(graphs) for record in case(index=i, graph=g)), ended())
    assert summary.lowered == Layers(1, {"it trains": 2, "its eager run failed": 1})
    assert summary.to_json()["lowered"] == {"verified": 1, "skipped": {"it trains": 2, "its eager run failed": 1}}
    words = "1 of 4 cases with layers, as the functions that they call"
    shown = " ".join(render(summary, width=120).split())
    assert f" lowered 25.0 % {words} 2 x it trains 1 x its eager run failed " in shown
    assert f"| lowered | 25.0 % | {words} |" in markdown_text(summary)
    assert words in render_page(summary, "report/", "no run before", [])


def test_not_asked_for(summed, case, ended):
    """A run without them says nothing of functions."""
    summary = summed(*case(graph={"forward": "verified", "backward": "off"}), ended())
    assert "lowered" not in summary.to_json()
    assert "lowered" not in render(summary, width=120)
    assert "lowered" not in markdown_text(summary)
