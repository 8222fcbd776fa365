"""Inference: where the reference disagrees with itself, told in each of the faces of a report."""

from __future__ import annotations

from reports.exports.markdown import markdown_text
from reports.page.index import render_page
from reports.tallies.inference import HEADING
from reports.text.terminal import render


def inferred(test="test_x.py::test_a", op="conv2d", **fields):
    """The record of a test."""
    row = {
        "op": op,
        "aspect": "strides",
        "key": f"{test}#3@laid",
        "value": "t0",
        "eager": "(4, 1)",
        "meta": "(1, 2)",
        "inputs": ["x: float32, shape (2, 4), strides (1, 2)"],
        "program": "def program(torch, x):\n    t0 = torch.conv2d(x)\n    return t0",
    }
    base = {"type": "inferred", "test": test, "asked": 3, "refused": {"no kernel": 1}, "disagreements": [row]}
    return {**base, **fields}


LINES = """\
conv2d strides (2 tests)
t0: eager (4, 1), meta (1, 2)
def program(torch, x):
    t0 = torch.conv2d(x)
    return t0
x: float32, shape (2, 4), strides (1, 2)
test_x.py::test_a#3@laid""".splitlines()


def test_summary_and_its_faces(summed, case, ended):
    """An op is told once with the tests that show it, in the terminal, on the page, in Markdown and summary.json; the
    run stays green.
    """
    summary = summed(*case(), inferred(), inferred("test_x.py::test_b"), ended())
    assert summary.to_json()["inference"] == {
        "asked": 6,
        "refused": {"no kernel": 2},
        "disagreements": [
            {
                "op": "conv2d",
                "aspect": "strides",
                "tests": ("test_x.py::test_a", "test_x.py::test_b"),
                "key": "test_x.py::test_a#3@laid",
                "value": "t0",
                "eager": "(4, 1)",
                "meta": "(1, 2)",
                "inputs": ("x: float32, shape (2, 4), strides (1, 2)",),
                "program": "def program(torch, x):\n    t0 = torch.conv2d(x)\n    return t0",
            }
        ],
    }
    shown = render(summary, width=80)
    first, *rest = LINES
    assert "\n".join([HEADING, f"  {first}", *(f"    {line}" for line in rest)]) in shown
    assert shown.startswith("aligned: ")
    text = markdown_text(summary)
    assert f"**{HEADING}**\n\n`{first}`\n\n" + "\n".join(f"    {line}" for line in rest) in text
    page = render_page(summary, "report/", "no run before", [])
    assert f"<h2>{HEADING}</h2>" in page
    assert '<li class="code">' + "\n".join(LINES) + "</li>" in page
    assert "6 cases asked, 2 refused" in page


def test_many_are_cut(summed, ended):
    """The terminal shows five, and says how many more there are."""
    summary = summed(*(inferred(op=f"op{number}") for number in range(7)), ended())
    shown = render(summary, width=80)
    assert shown.count("strides (1 test)") == 5
    assert "  and 2 more, see the report\n" in shown


def test_nothing_to_tell(summed, case, ended):
    """Where both agree, no face has a word on it but the counts; a run that asked nothing has none of it."""
    summary = summed(*case(), inferred(disagreements=[], refused={}), ended())
    assert summary.to_json()["inference"] == {"asked": 3, "refused": {}, "disagreements": []}
    page = render_page(summary, "report/", "no run before", [])
    for face in (render(summary, width=80), markdown_text(summary), page):
        assert HEADING not in face
    assert "3 cases asked" in page
    assert "inference" not in summed(*case(), ended()).to_json()


def test_further_ranks_count_nothing(lay, header, case):
    """What a further rank asks, the first one does."""
    from reports import read_run, summarize

    lay(header(), *case(), inferred(), worker="rank0")
    folder = lay(header(), *case(), inferred(), worker="rank1")
    assert summarize(read_run(folder)).inference.asked == 3
