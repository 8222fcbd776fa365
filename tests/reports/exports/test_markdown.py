"""The Markdown of a run tells the verdict, and nothing in it comes alive."""

from __future__ import annotations

from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from reports import read_run, summarize
from reports.exports.markdown import code, markdown_text
from reports.tallies.matrix import Cell, Matrix

HOSTILE = "<img src=x onerror=alert(1)> | `x` @someone **b** [a](http://e.vil) www.e.vil #1 &amp; \\| \\"


def leaves(text):
    """Return type and content of every leaf of a Markdown document."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    return [(leaf.type, leaf.content) for token in tokens for leaf in (token.children or [])]


def shown(text):
    """Return what a reader of a Markdown document sees, cell by cell or line by line."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    return ["".join(leaf.content for leaf in token.children) for token in tokens if token.type == "inline"]


def test_whole_text(summed, case, row, ended):
    """Every line for a run with one divergence of each level."""
    levels = {"wrong": "value", "refuses": "missing", "known": "value", "counted": "missing", "stricter": "layout"}
    rows = [row(fingerprint=f"f/{level}", level=level, kind=kind) for level, kind in levels.items()]
    records = [*case(verdict="divergent", divergences=rows), *case("t::b", 1), ended(outcome="failed"), ended("t::b")]
    assert markdown_text(summed(*records)) == (
        """\
### DIVERGENT: 2 divergences in 1 of 2 tests, `oneflow 0.9.0 against torch 2.14.1`

| | count | |
|---|--:|---|
| tests | 2 | in 10.00 s, seed 7 |
| cases | 2 | each in one of these: |
| aligned | 1 |  |
| new | 1 | wrong |
| rejected draws | 0 | |
| graph verified | 100.0 % | 2 of 2 cases |
| divergences | 5 | each with a fingerprint of its own |
| known | 1 | explained by a ledger or an xfail mark |
| counted | 1 | ops that the target lacks, does not support there or has no row for, counted by their tests |
| stricter | 1 | seen by these checks only, not red |
| new | 2 | the run is red |

| divergence | cases | tests | message | replay |
|---|--:|---|---|---|
| `f/wrong` | 1 | `test_x.py::test_a` | `out[0]=2.0, but should be 1.0 [relu(float32)]` | `autotest replay 0a1b2c3d` |
| `f/refuses` | 1 | `test_x.py::test_a` | `out[0]=2.0, but should be 1.0 [relu(float32)]` | `autotest replay 0a1b2c3d` |

Run again: `pytest`
"""
    )


def test_map_of_all_ops(summed, case):
    """A square for each op in its family's line, in the colour of its worst phase; of few ops there is none."""
    outcomes = {"crashed": 1, "wrong": 1, "refuses": 1, "known": 2, "undecidable": 1, "aligned": 12, "not_checked": 1}
    cells, tests = {}, {}
    for name, count in outcomes.items():
        for number in range(count):
            op = f"{number:02}{name}"
            cells[op] = {"eager_forward": Cell(**{name: 1}), "graph_forward": Cell(aligned=int(name != "not_checked"))}
            tests[op] = (f"suites/test_{'unary' if name == 'aligned' else 'other'}.py::t",)
    summary = summed(*case())
    text = markdown_text(replace(summary, matrix=Matrix(cells, tests)))
    green, blue, red = ("\N{LARGE GREEN SQUARE}", "\N{LARGE BLUE SQUARE}", "\N{LARGE RED SQUARE}")
    purple, yellow = "\N{LARGE PURPLE SQUARE}", "\N{LARGE YELLOW SQUARE}"
    white, black = "\N{WHITE LARGE SQUARE}", "\N{BLACK LARGE SQUARE}"
    assert (
        f"\n**All ops**, each by its worst outcome: {purple} crashed, {red} wrong, {yellow} refuses, {blue} known, "
        f"{white} undecidable, {green} aligned, {black} not checked\n\n| family | ops |\n|---|---|\n"
        f"| `other` | {purple}{blue}{black}{yellow}{white}{red}{blue} |\n| `unary` | {green * 10} {green * 2} |\n"
    ) in text
    few = dict([*cells.items()][:9])
    assert "All ops" not in markdown_text(replace(summary, matrix=Matrix(few, tests)))


def test_aligned(summed, case, ended):
    """A run without a divergence has no table of them."""
    text = markdown_text(summed(*case(), ended()))
    assert text.startswith("### aligned: 1 case of 1 test, `oneflow 0.9.0 against torch 2.14.1`\n")
    assert "| divergence |" not in text
    assert "| divergences | 0 | each with a fingerprint of its own |\n| new | 0 |  |\n" in text
    assert "| known |" not in text


def test_sections_of_trouble(summed, case, ended):
    """What was interrupted, failed, at fault or damaged is listed, twenty of each at most."""
    fault = {"type": "fault", "test": None, "message": "line 1\nline 2"}
    failed = [ended(f"t::{i:02}", outcome="failed") for i in range(23)]
    text = markdown_text(summed(*case(), *failed, fault, b"x\n"))
    assert (
        """
**Tests that did not end**

- `test_x.py::test_a`

**Faults of the harness**

- `line 1...`

**Damaged records**

- `records-main.jsonl:28 is not a record (Expecting value at column 1); it is left out`

**Failed without a divergence**

- `t::00`
"""
        in text
    )
    assert "- `t::19`\n- and 3 more, see summary.json of the run\n" in text
    interrupted = markdown_text(summed(case()[0]))
    assert "**Interrupted while running**\n\n- `test_x.py::test_a#0`\n\nRun again" in interrupted


def test_tests_are_cut(summed, case, row, ended):
    """Three tests of a divergence are named, the others counted."""
    tests = [f"t::{i}" for i in range(5)]
    records = [r for t in tests for r in case(t, verdict="divergent", divergences=[row(test=t)])]
    text = markdown_text(summed(*records, *(ended(t) for t in tests)))
    assert "| 5 | `t::0`<br>`t::1`<br>`t::2`<br>and 2 more | " in text


def test_hostile_text_is_inert(summed, case, row, ended, header):
    """Bars, backticks, HTML, mentions, links and escapes stand as they are typed, within their cell."""
    divergence = row(test=HOSTILE, fingerprint=HOSTILE, message=HOSTILE, replay=HOSTILE)
    records = [
        {**header(), "target": HOSTILE, "environment": {}, "command": HOSTILE},
        *case(HOSTILE, verdict="divergent", divergences=[divergence]),
        ended(HOSTILE, outcome="failed"),
        ended(HOSTILE + "2", outcome="failed"),
        {"type": "fault", "test": None, "message": HOSTILE},
    ]
    text = markdown_text(summed(*records))
    alive = {kind for kind, _ in leaves(text)} - {"text", "code_inline", "strong_open", "strong_close"}
    assert alive == set()
    plain = "".join(content for kind, content in leaves(text) if kind == "text")
    assert not set("@<>`[]\\*") & set(plain)
    cells = shown(text)
    assert cells.count(HOSTILE) == 5
    place = cells.index(HOSTILE)
    assert cells[place : place + 5] == [HOSTILE, "1", HOSTILE, HOSTILE, HOSTILE]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "`",
            "``",
            "a`",
            "`a",
            " a",
            "a ",
            " a ",
            "|",
            "||",
            "a|b",
            "|`|``|",
            "\\",
            "a\\|b",
            "\\`",
            "-",
            "1. a",
            "# a",
        ),
        *("<!-- a", "&#124;", "&lt;", "@a", "a@b.c", "http://a.b", "*a*", "~~a~~", ":smile:", "$a$", "a" * 300),
    ],
)
def test_code(text):
    """Any text is shown as it is, in a line and in a cell, whatever stands beside it."""
    assert shown(f"- {code(text)} `x`")[0].strip() == f"{text} x".strip()
    cells = shown(f"| a | b |\n|---|---|\n| {code(text)} | {code(text)} |")
    assert [cell.strip() for cell in cells] == ["a", "b", text.strip(), text.strip()]


def test_code_shows_what_cannot_be_printed():
    """Control characters are escapes, later lines are left out, and long text and long fences are cut."""
    assert code("a\x1b[31m\u202e\r") == "`a\\x1b[31m\\u202e\\r`"
    assert code("a\nb") == "`a...`"
    assert code("x" * 301) == f"`{'x' * 297}...`"
    assert code("`" * 21 + "x") == "`" + "\\x60" * 21 + "x`"


def test_size_is_bounded(summed, case, row, ended):
    """A run of many divergences stays below the limit, and a sentence tells how many are left out."""
    rows = [row(fingerprint=f"f/{i:05}", message="\u4f60" * 400) for i in range(2000)]
    summary = summed(*case(verdict="divergent", divergences=rows), ended(outcome="failed"))
    text = markdown_text(summary)
    assert 890_000 < len(text.encode()) <= 900_000
    told = text.count("\n| `f/")
    assert 500 < told < 2000
    assert f"\n\n{2000 - told:,} more divergences did not fit here, see summary.json of the run.\n\nRun again" in text
    small = markdown_text(summary, 0)
    assert "\n2,000 more divergences did not fit here, see summary.json of the run.\n" in small
    assert small.startswith("### DIVERGENT: 2,000 divergences in 1 of 1 test, ")
    assert len(small.encode()) < 1000
    assert "| divergence |" not in small


def test_the_kind_of_inputs_is_told(lay, header, case, ended):
    """A reader sees how wild the tensors were."""
    text = markdown_text(summarize(read_run(lay(header(inputs="edge"), *case(), ended()))))
    assert "| tests | 1 | in 10.00 s, seed 7, edge inputs |" in text.splitlines()
