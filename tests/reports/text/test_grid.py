"""The matrix in the terminal: one line per op that is not aligned everywhere, worst first."""

from __future__ import annotations

import pytest

from reports import render

BOTH = {"forward": "verified", "backward": "verified"}


def section(page):
    """The lines from the matrix's heading to the next empty line."""
    lines = page.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("Ops by phase"))
    return lines[start : lines.index("", start)]


@pytest.fixture
def records(case, row):
    """Cases of four ops: one crashed once of two, one wrong always, one aligned, one never checked."""
    crash = row(fingerprint="f/argmax", op="argmax", kind="crash", phase="graph_forward")
    wrong = row(fingerprint="f/lgamma", op="lgamma", phase="eager_backward")
    integer = {"forward": "the graph ended in a crash", "backward": "nothing to differentiate"}
    return [
        *case(index=0, ops=["argmax"], verdict="crashed", graph=integer, divergences=[crash]),
        *case(index=1, ops=["argmax"], graph={**integer, "forward": "verified"}),
        *case(index=2, ops=["lgamma"], graph=BOTH, verdict="divergent", divergences=[wrong]),
        *case(index=3, ops=["add"], graph=BOTH),
        *case(index=4, ops=["sub"], verdict="skipped"),
    ]


@pytest.mark.parametrize("width", [80, 200])
def test_lines(summed, records, width):
    """Words and shares, a dash where nothing was checked, the same at 80 and at 200 columns."""
    assert section(render(summed(*records), width)) == [
        "Ops by phase: the worst outcome and its share of the cases; -: none checked",
        "          eager    eager      graph",
        "  op      forward  backward   forward",
        "  argmax  aligned  -          crashed 1/2",
        "  lgamma  aligned  wrong all  aligned",
        "  1 op aligned in every phase checked",
        "  1 op checked in no phase",
    ]


def test_nothing_to_list(summed, case, ended):
    """A run without a divergence has one line."""
    page = render(summed(*case(), *case(index=1, ops=["add"]), ended()), 80)
    assert "\n\n2 ops aligned in every phase checked\n\n" in page
    assert "Ops by phase" not in page


def test_at_most_forty_lines(summed, case, row):
    """Of many ops the worst are shown and the rest counted."""
    records = []
    for i in range(60):
        divergence = row(op=f"op{i:02}", fingerprint=f"f{i}")
        records += case(index=i, ops=[f"op{i:02}"], graph=BOTH, verdict="divergent", divergences=[divergence])
    lines = section(render(summed(*records), 80))
    assert len(lines) <= 41
    assert lines[3] == "  op00  wrong all"
    assert lines[-2:] == ["  and 24 more, see the report", "  0 ops aligned in every phase checked"]


def test_colour_is_never_alone(summed, records):
    """The words are the same with colour and without."""
    from rich.text import Text

    summary = summed(*records)
    colored = render(summary, 80, color=True)
    assert "\x1b[31mwrong all" in colored
    words = Text.from_ansi(colored).plain.splitlines()
    assert [line.rstrip() for line in words] == render(summary, 80).splitlines()


def test_literal_names(summed, case, row):
    """An op's name is printed as typed, whatever it holds."""
    name = "[red]\x1b[31m"
    page = render(summed(*case(ops=[name], verdict="divergent", divergences=[row(op=name)])), 80)
    assert "  [red]\\x1b[31m  wrong all\n" in page.replace("  aligned", "")


def test_only_ops_with_something_new(summed, case, row):
    """Ops that are known to diverge, or that the target lacks, are counted in words and not listed."""
    old = [
        row(fingerprint="f/known", op="lgamma", level="known"),
        row(fingerprint="f/counted", op="cholesky", kind="missing", level="counted"),
    ]
    records = []
    for index, divergence in enumerate(old):
        records += case(index=index, ops=[divergence["op"]], verdict="divergent", divergences=[divergence])
    page = render(summed(*records), 80)
    assert "Ops by phase" not in page
    words = "0 ops aligned in every phase checked\n1 op known to diverge\n1 op that the target lacks\n"
    assert f"\n\n{words}\n" in page
    wrong = row(fingerprint="f/relu")
    page = render(summed(*records, *case(index=9, verdict="divergent", divergences=[wrong])), 80)
    assert section(page)[3:] == ["  relu  wrong all", *(f"  {line}" for line in words.splitlines())]
