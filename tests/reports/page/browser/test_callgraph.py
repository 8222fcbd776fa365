"""In a browser: a divergence's program as a graph."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

GRAPH = {
    "nodes": [
        ["input", "x", "", ""],
        ["input", "y", "", ""],
        ["call", "relu", "t0 = torch.relu(x)", ""],
        ["call", "mul", "t1 = t0 * y  # <b>", "wrong"],
        ["call", "sum", "t2 = torch.sum(t1)", "tainted"],
        ["returned", "returned", "", "tainted"],
    ],
    "edges": [
        [0, 2, "x", "float32[2, 3]"], [2, 3, "t0", "float32[2, 3]"], [1, 3, "y", ""], [3, 4, "t1", "float32[2, 3]"],
        [4, 5, "t2", "float32[]"],
    ],
}  # fmt: skip


@pytest.fixture
def drawn(view, write, divergence):
    """Give a function which opens the page of a divergence with a graph."""

    def drawn(graph=GRAPH, **options):
        row = divergence(tests=[0], families=[0])
        evidence = {"program": None, "blamed_line": None, "last_words": None, "facts": [], "words": [], "worst": []}
        evidence |= {"heat": None, "histogram": None, "sample": None, "graph": graph}
        detail = {**row, "target": "oneflow", "stages": [], "reason": None, "replay": "r", "evidence": evidence}
        detail |= {"tests": [{"test": "t", "cases": ["t#0"], "count": 20}], "repro": None}
        index = {"base": "report/", "target": "oneflow", "phases": [], "families": ["f"], "tests": ["t"], "ops": []}
        path = write({**index, "divergences": [row], "more": 0}, [detail])
        watched = view(path, "#open=4701a54b", **options)
        watched.page.locator(".callgraph").wait_for()
        return watched

    return drawn


def test_calls_tensors_and_what_is_wrong(drawn):
    """Calls stand below what they are given, tensors have name and type, and a call's line is told by its node."""
    watched = drawn()
    page = watched.page
    assert watched.errors == []
    nodes = page.locator(".callgraph .node")
    assert nodes.locator("text").all_text_contents() == ["x", "y", "relu", "mul", "sum", "returned"]
    assert [node.get_attribute("class") for node in nodes.all()] == [
        "node input", "node input", "node call", "node call wrong", "node call tainted", "node returned tainted",
    ]  # fmt: skip
    assert nodes.nth(3).locator("title").text_content() == "t1 = t0 * y  # <b>"
    edges = page.locator(".callgraph .edge")
    assert [edges.nth(number).locator("text").all_text_contents() for number in (0, 1, 2)] == [
        ["float32[2, 3]"], ["t0", "float32[2, 3]"], [],
    ]  # fmt: skip
    assert page.locator(".callgraph .edge.tainted").count() == 2
    tops = [node.locator("rect").bounding_box()["y"] for node in nodes.all()]
    assert tops[0] < tops[2] < tops[3] < tops[4] < tops[5]
    assert page.locator(".callgraph").get_attribute("aria-label") == (
        "3 calls and the tensors between them, as the program says"
    )
    section = page.locator("section", has=page.locator(".callgraph")).last
    assert section.locator("p").all_inner_texts() == ["mul is the first that is wrong; what comes of it is dashed."]


def test_labels_fit(drawn):
    """Of a long name, too: a box is wider than its text, and no two of them overlap."""
    long = [
        ["call", "a_very_long_name_of_an_op_that_somebody_has", "", ""] if n[1] == "relu" else n for n in GRAPH["nodes"]
    ]
    page = drawn({**GRAPH, "nodes": long}).page
    boxes = [box.bounding_box() for box in page.locator(".callgraph .node rect").all()]
    texts = [text.bounding_box() for text in page.locator(".callgraph .node text").all()]
    for box, text in zip(boxes, texts, strict=True):
        assert box["x"] < text["x"]
        assert text["x"] + text["width"] < box["x"] + box["width"]
    assert boxes[0]["x"] + boxes[0]["width"] < boxes[1]["x"] or boxes[0]["y"] + boxes[0]["height"] < boxes[1]["y"]


@pytest.mark.parametrize(
    ("marks", "sentence"),
    [
        (["", "", "", "", "", ""], "No single call shows the difference by itself."),
        (["", "", "", "", "wrong", ""], "sum is the first that is wrong."),
    ],
)
def test_what_is_said_of_it(drawn, marks, sentence):
    """Without a call to blame, and where nothing comes of it."""
    nodes = [[*node[:3], mark] for node, mark in zip(GRAPH["nodes"], marks, strict=True)]
    page = drawn({**GRAPH, "nodes": nodes}).page
    assert page.locator("section", has=page.locator(".callgraph")).last.locator("p").inner_text() == sentence


def test_missing_library(drawn):
    """Without its file a sentence says which one is missing."""
    watched = drawn()
    page_file = Path(watched.page.url.removeprefix("file://").partition("#")[0])
    (page_file.parent / "report" / "graphs.js").unlink()
    watched.page.reload()
    watched.page.locator(".failure").wait_for()
    assert watched.page.locator(".failure").inner_text() == (
        "report/graphs.js is missing: keep the folder report/ beside this page."
    )


@pytest.mark.parametrize("width", [320, 1400])
def test_width(drawn, width):
    """At any width the page does not scroll sideways; the graph does."""
    page = drawn(width=width).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
