"""The program shows its diverging line, the table its worst elements, a line which stage is wrong."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from reports import failure_text, render
from reports.exports.markdown import markdown_text
from reports.findings.finding import findings
from reports.page.index import detail_data
from reports.text.evidence import program_table, worst_table


def shown(table, width=60):
    """Return the lines of a table."""
    file = io.StringIO()
    Console(file=file, width=width, _environ={}).print(table)
    return [line.rstrip() for line in file.getvalue().splitlines()]


def test_blamed_line_is_marked():
    """The first diverging line, counted from 1, has the mark."""
    assert shown(program_table("def program(torch, x):\n    return x[0]\n", 2)) == [
        "  def program(torch, x):",
        ">     return x[0]",
    ]


def test_no_blamed_line():
    """Without a blamed line nothing is marked."""
    assert shown(program_table("a\nb", None)) == ["  a", "  b"]


def test_long_program_is_cut_around_the_mark():
    """A long program shows forty lines with the marked one among them."""
    lines = shown(program_table("\n".join(f"line {i}" for i in range(1, 101)), 60))
    assert lines[0] == "  ... 35 lines above"
    assert lines[-1] == "  ... 25 lines below"
    assert "> line 60" in lines
    assert len(lines) == 42


def test_worst_elements(element):
    """Five rows at most; values which nine digits do not tell apart have all their digits."""
    worst = [
        element(index=[0, 1], relative=0.5),
        element(index=[], reference=0.1, eager=0.1 + 2e-16, absolute=2e-16, relative=2e-15),
        element(index=[2], reference="nan", eager="-inf", absolute="nan", relative=None),
    ]
    assert shown(worst_table(worst * 2, "oneflow"), 90) == [
        "index    reference              oneflow   absolute   relative",
        "[0, 1]           1                    2          1        0.5",
        "[]             0.1   0.1000000000000002      2e-16      2e-15",
        "[2]            nan                 -inf        nan          -",
        "[0, 1]           1                    2          1        0.5",
        "[]             0.1   0.1000000000000002      2e-16      2e-15",
    ]


@pytest.mark.parametrize(
    ("sides", "heads", "values"),
    [
        ({"eager": 2.0, "graph": 3.0}, ["oneflow", "eager", "oneflow", "graph"], ["2", "3"]),
        ({"eager": None, "graph": 3.0}, ["oneflow", "graph"], ["3"]),
        ({"eager": 2.0, "graph": None}, ["oneflow"], ["2"]),
    ],
)
def test_sides_of_the_target(element, sides, heads, values):
    """Eager and graph have a column each where they were seen; eager alone is just the target."""
    head, line = shown(worst_table([element(**sides)], "oneflow"), 90)
    assert head.split() == ["index", "reference", *heads, "absolute", "relative"]
    assert line.split() == ["[0]", "1", *values, "1", "1"]


def test_side_that_one_element_lacks(element):
    """A value that was not seen is a dash."""
    rows = [element(), element(eager=None, graph=4.0)]
    assert [line.split()[1:4] for line in shown(worst_table(rows, "t"), 90)[1:]] == [["1", "2", "-"], ["1", "-", "4"]]


def test_hostile_elements_are_literal(element):
    """Text among the values is shown as it is typed, as is the target's name."""
    lines = shown(worst_table([element(reference="[red]\x1b[31m")], "[b]t\x1b"), 90)
    assert "[b]t\\x1b" in lines[0]
    assert "[red]\\x1b[31m" in lines[1]


def test_parting_of_a_training(summed, case, row, evidence, ended):
    """Where a training parts first stands below the blame in the terminal and in the text of a failed test."""
    losses = {"reference": [0.5], "eager": [0.75], "graph": None, "words": []}
    parting = {"step": 1, "words": "at step 1, in the forward: loss"}
    told = row(evidence=evidence(losses={**losses, "parting": parting}))
    words = "training: first apart at step 1, in the forward: loss"
    assert f"\n  {words}\n" in failure_text([told], cases=1)
    assert f"\n  {words}\n" in render(summed(*case(verdict="divergent", divergences=[told]), ended(outcome="failed")))
    nowhere = row(evidence=evidence(losses={**losses, "parting": None}))
    assert "training" not in failure_text([nowhere], cases=1) + failure_text([row(evidence=evidence())], cases=1)


def test_stages_and_their_faces(summed, case, row, evidence, ended):
    """How each stage did in the first case stands in summary.json, and below the blame in the terminal, in the text of
    a failed test, in Markdown and on the page; of a target without stages nothing is said.
    """
    stages = {"torch:eager": "right", "torch:fx": "refused it", "torch:inductor": "wrong with graph breaks"}
    told = row(fingerprint="torch:inductor/f", target="torch:inductor", stages=stages, evidence=evidence())
    later = {**told, "case_key": "test_x.py::test_a#1", "stages": {"torch:eager": "wrong"}}
    blame = {"verdict": "target", "reason": "it is", "worst": None}
    summary = summed(
        *case(verdict="divergent", divergences=[told]),
        *case(index=1, verdict="divergent", divergences=[later]),
        {"type": "blame", "test": "t", "fingerprint": told["fingerprint"], "blame": blame},
        ended(outcome="failed"),
    )
    [divergence] = summary.to_json()["divergences"]
    assert (divergence["stages"], divergence["blame"]) == (stages, blame)
    words = "stages: eager right, fx refused it, inductor wrong with graph breaks"
    assert f"\n  blame: target, it is\n  {words}\n" in render(summary, width=120)
    assert f"\n  {words}\n" in failure_text([told], cases=1)
    assert f"<br>`{words}` |" in markdown_text(summary)
    [finding] = findings(summary.divergences)
    assert detail_data(finding, summary)["stages"] == [
        ["eager", "right"],
        ["fx", "refused it"],
        ["inductor", "wrong with graph breaks"],
    ]
    without = summed(*case(verdict="divergent", divergences=[row(evidence=evidence())]), ended())
    assert "stages" not in without.to_json()["divergences"][0]
    assert "stages:" not in render(without) + markdown_text(without)
