"""The terminal summary is one page that a person can read at any width."""

from __future__ import annotations

import pytest

from reports import render


def test_whole_page(summed, case, row, ended, evidence, element):
    """One divergent case: every line of the page."""
    program = "def program(torch, x):\n    return torch.relu(x)\n"
    divergence = row(evidence=evidence(program=program, blamed_line=2, worst=[element()]))
    skipped = case(index=1, verdict="skipped", reason="no float16 kernel", graph=None)
    summary = summed(*case(verdict="divergent", divergences=[divergence]), *skipped, ended(outcome="failed"))
    assert render(summary, 80) == (
        f"""\
DIVERGENT: 1 divergence in 1 of 1 test, oneflow 0.9.0 against torch 2.14.1

tests                 1  in 10.00 s, seed 7
cases                 2
  aligned             0
  new                 1  wrong
  skipped             1  1 x no float16 kernel
rejected draws        0
graph verified  100.0 %  1 of 1 case, 0 backward too
divergences           1  each with a fingerprint of its own
  new                 1

oneflow/eager_forward/value/relu/float32  1 case of 1 test
  test_x.py::test_a
  out[0]=2.0, but should be 1.0 [relu(float32)]

    def program(torch, x):
  >     return torch.relu(x)

  index   reference   oneflow   absolute   relative
  [0]             1         2          1          1

  autotest replay 0a1b2c3d

Accept one that is known: autotest accept ID --reason "why"

Ops by phase: the worst outcome and its share of the cases; -: none checked
        eager
  op    forward
  relu  wrong all
  0 ops aligned in every phase checked

Slowest tests
  1.00 s  test_x.py::test_a

report: {summary.folder}
"""
    )


def test_what_the_ledger_has(summed, case, row, ended):
    """Below the message stands the entry that a new divergence is next to."""
    near = "the ledger has oneflow/eager_forward/value/relu/float32,tie: it is rounded"
    page = render(summed(*case(divergences=[row(reason=near)], verdict="divergent"), ended()), 120)
    lines = [line.strip() for line in page.splitlines()]
    assert lines[lines.index(near) - 1] == "out[0]=2.0, but should be 1.0 [relu(float32)]"


def test_what_was_told_is_named_alone(summed, case, row, ended, evidence, element):
    """A divergence that stands in the text of a failed test is named, with what to type, and not shown again."""
    divergence = row(evidence=evidence(worst=[element()]))
    summary = summed(*case(verdict="divergent", divergences=[divergence]), ended(outcome="failed"))
    page = render(summary, 80, told={divergence["fingerprint"]})
    assert (
        """
oneflow/eager_forward/value/relu/float32  1 case of 1 test
  test_x.py::test_a
  autotest replay 0a1b2c3d

Accept one that is known: autotest accept ID --reason "why"

Ops by phase"""
        in page
    )


def test_run_of_nothing(summed):
    """A run without a test has no empty sections."""
    summary = summed()
    page = render(summary, 80)
    assert page.splitlines()[2:] == [
        "tests           0  in 0.00 s, seed 7",
        "cases           0",
        "  aligned       0",
        "  new           0",
        "  skipped       0",
        "rejected draws  0",
        "",
        f"report: {summary.folder}",
    ]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_line_is_too_wide(summed, case, row, ended, evidence, element, width):
    """Long names, reasons and programs are folded; only the path may pass the width."""
    long = "x" * 300
    divergence = row(
        test=long,
        fingerprint=long,
        message=long,
        evidence=evidence(program=long, worst=[element(index=[1] * 40, reference=1.5, relative=1e-300, graph=2.5)]),
    )
    records = [
        *case(long, verdict="divergent", divergences=[divergence]),
        *case(long, 1, verdict="skipped", reason=long, graph={"forward": long, "backward": "off"}),
        case(long, 2)[0],
        {"type": "fault", "test": None, "message": long},
        ended(long),
    ]
    *lines, path, _ = render(summed(*records), width).split("\n")
    assert path.startswith("report: ")
    assert max(map(len, lines)) <= width


def test_literal_text(summed, case, row, ended, evidence):
    """Markup and control sequences from tests are shown as typed."""
    name = "[red]x[/red]\x1b[31m:smile:"
    divergence = row(test=name, fingerprint=name, message=name, replay=name, evidence=evidence(program=name))
    page = render(summed(*case(name, verdict="divergent", divergences=[divergence]), ended(name)), 80)
    assert page.count("[red]x[/red]\\x1b[31m:smile:") == 6
    assert "\x1b" not in page


def test_color(summed, case, ended):
    """Colour is there when asked for, whatever the environment says."""
    page = render(summed(*case(), ended()), 80, color=True)
    assert page.startswith("\x1b[1;32maligned: 1 case of 1 test")


def test_environment_has_no_say(summed, case, ended, monkeypatch):
    """Neither NO_COLOR, FORCE_COLOR nor COLUMNS overrules the arguments."""
    summary = summed(*case(), ended())
    pages = [render(summary, 80, color) for color in (False, True)]
    for name, value in {"FORCE_COLOR": "1", "NO_COLOR": "1", "COLUMNS": "30", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)
    assert [render(summary, 80, color) for color in (False, True)] == pages


def test_encoding(summed, case, row, ended, evidence, element):
    """An ASCII terminal gets ASCII."""
    name = "t::\u4f60"
    shown = evidence(program=name, worst=[element(reference=name)])
    divergence = row(test=name, message=name, evidence=shown)
    summary = summed(*case(name, verdict="divergent", divergences=[divergence]), ended(name))
    page = render(summary, 80, encoding="ascii")
    assert page.isascii()
    assert "t::\\u4f60" in page
    assert name in render(summary, 80)


def test_worst_kinds_first_and_ten_at_most(summed, case, row, ended):
    """Groups stand by severity, then by their number of tests; the rest is counted."""
    rows = [row(fingerprint=f"f/{kind}/{i}", kind=kind) for i in range(6) for kind in ("missing", "value")]
    rows.append(row(fingerprint="f/crash", kind="crash"))
    rows.append(row(fingerprint="f/value/5", kind="value", test="t::b"))
    lines = render(summed(*case(verdict="divergent", divergences=rows), ended()), 80).splitlines()
    groups = [line.split()[0] for line in lines if line.startswith("f/")]
    assert groups[:3] == ["f/crash", "f/value/5", "f/value/0"]
    assert groups[-1] == "f/missing/2"
    assert len(groups) == 10
    assert "and 3 more fingerprints, see summary.json" in lines


def test_interrupted(summed, case):
    """What was running when a run was killed is named, ten at most."""
    lines = render(summed(*(case(index=i)[0] for i in range(12))), 80).splitlines()
    place = lines.index("Interrupted while running")
    assert lines[place + 1] == "  test_x.py::test_a#0"
    assert lines[place + 11] == "  and 2 more, see summary.json"


def test_sections_of_trouble(summed, case, ended):
    """Open tests, faults, damage and failures each have their section."""
    fault = {"type": "fault", "test": None, "message": "line 1\nline 2"}
    failed = {**ended("t::b", outcome="failed"), "error": "ValueError: no"}
    page = render(summed(*case(), failed, fault, b"x\n"), 80)
    assert (
        """
Tests that did not end
  test_x.py::test_a

Faults of the harness
  line 1
  line 2

Damaged records
  records-main.jsonl:6 is not a record (Expecting value at column 1); it is left
  out

Failed without a divergence
  t::b: ValueError: no
"""
        in page
    )


def test_many_reasons(summed, case, ended):
    """Five reasons are shown and the rest counted."""
    records = [r for i in range(7) for r in case(index=i, verdict="skipped", reason=f"r{i}", graph=None)]
    page = render(summed(*records, ended()), 80)
    assert "1 x r4\n                   and 2 more reasons, see summary.json\n" in page
    assert "r5" not in page


def test_graph_share_is_never_rounded_up(summed, case, ended):
    """One case of two thousand which was not verified is not 100 %."""
    records = [r for i in range(2000) for r in case(index=i)]
    records += case(index=2000, graph={"forward": "no kernel", "backward": "off"})
    page = render(summed(*records, ended()), 80)
    assert "graph verified  99.9 %  2,000 of 2,001 cases, 0 backward too" in page
    assert "                        1 x no kernel" in page


def test_graph_off_and_known(summed, case, row, ended):
    """A run without graph checks says so, and known divergences are counted."""
    off = {"forward": "off", "backward": "off"}
    records = case(verdict="divergent", graph=off, divergences=[row(level="known")])
    page = render(summed(*records, ended()), 80)
    assert "graph verified  off\n" in page
    assert "\n  known           1  wrong\n  new             0\n" in page
    assert (
        "\ndivergences       1  each with a fingerprint of its own\n"
        "  known           1  explained by a ledger or an xfail mark\n" in page
    )


def test_random_cases_are_told(summed, case, ended):
    """Cases that were compared without their random values are told."""
    off = {"forward": "off", "backward": "off", "random": "tainted"}
    page = render(summed(*case(graph=off), ended()), 80)
    assert "  cases, compared without random values\n" in page


def test_long_message_is_cut(summed, case, row, ended):
    """A message of many lines ends with their count."""
    message = "\n".join(f"word {i}" for i in range(20))
    records = case(verdict="divergent", divergences=[row(message=message)])
    page = render(summed(*records, ended()), 80)
    assert "  word 11\n  and 8 more lines, see summary.json\n" in page


@pytest.mark.parametrize(("seconds", "shown"), [(0.004, "0.00 s"), (61.0, "1 min 01 s"), (7380.0, "2 h 03 min")])
def test_durations(summed, ended, seconds, shown):
    """Seconds, minutes and hours are told apart."""
    assert f"  {shown}  test_x.py::test_a\n" in render(summed(ended(seconds=seconds)), 80)


def test_report_names_its_page(summed, case, ended):
    """The last line names the page to open where there is one, else the folder of the run."""
    summary = summed(*case(), ended())
    assert render(summary, 80).endswith(f"\n\nreport: {summary.folder}\n")
    page = summary.folder / "index.html"
    assert render(summary, 40, page=page).endswith(f"\n\nreport: {page}\n")


@pytest.mark.parametrize(
    ("ops", "line"),
    [
        (["a"], "1 op that the target lacks"),
        (["a", "b", "a"], "2 ops that the target lacks"),
    ],
)
def test_counted_ops(summed, case, row, ended, ops, line):
    """Ops that tests only count as missing are counted once each, and shown as no divergence."""
    rows = [row(fingerprint=f"f{i}", op=op, kind="missing", level="counted") for i, op in enumerate(ops)]
    page = render(summed(*case(verdict="divergent", divergences=rows), ended()), 80)
    assert line in page.splitlines()
    assert "f0" not in page
    aligned = render(summed(*case(), ended()), 80)
    assert "refused" not in {line.split(" ")[0] for line in aligned.splitlines()}
