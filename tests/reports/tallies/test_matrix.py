"""The matrix counts a case once per op and phase, by the worst that it showed there, and claims nothing unchecked."""

from __future__ import annotations

import pytest

from reports import Cell

BOTH = {"forward": "verified", "backward": "verified"}
ALL_PHASES = ["eager_forward", "eager_backward", "graph_forward", "graph_backward"]


@pytest.fixture
def cells(summed, case):
    """Give a function which counts cases, each given as its fields, into cells."""

    def count(*cases):
        records = [r for i, fields in enumerate(cases) for r in case(index=i, **{"graph": BOTH, **fields})]
        return summed(*records).matrix.cells

    return count


def test_aligned_case_counts_in_every_phase(cells):
    """An aligned case is one aligned case of each op it called, however often."""
    found = cells({"ops": ["relu", "add", "relu"]})
    assert list(found) == ["add", "relu"]
    assert {op: list(row) for op, row in found.items()} == {"add": ALL_PHASES, "relu": ALL_PHASES}
    assert {cell for row in found.values() for cell in row.values()} == {Cell(aligned=1)}


def test_phases_that_were_not_compared(cells):
    """A graph that did not run leaves its phases unchecked; a case without gradients has no backward at all."""
    off = {"forward": "no kernel", "backward": "off"}
    integer = {"forward": "verified", "backward": "nothing to differentiate"}
    assert cells({"graph": off}, {"ops": ["argmax"], "graph": integer}) == {
        "argmax": {"eager_forward": Cell(aligned=1), "graph_forward": Cell(aligned=1)},
        "relu": {
            "eager_forward": Cell(aligned=1),
            "eager_backward": Cell(aligned=1),
            "graph_forward": Cell(not_checked=1),
            "graph_backward": Cell(not_checked=1),
        },
    }


def test_second_derivatives_have_their_phase(cells):
    """The phase eager_second is there where the record tells of it, and checked where it was compared."""
    compared, nothing = ({"graph": {**BOTH, "second": said}} for said in ("verified", "nothing to differentiate twice"))
    assert "eager_second" not in cells({})["relu"]
    assert cells(compared, nothing)["relu"]["eager_second"] == Cell(aligned=1, not_checked=1)


def test_buffers_have_their_phase(cells):
    """The phase graph_state is there where the record says that buffers were compared."""
    compared = {"graph": {**BOTH, "state": "verified"}}
    assert cells(compared)["relu"]["graph_state"] == Cell(aligned=1)
    assert cells({"graph": {**BOTH, "state": "off"}}, compared)["relu"]["graph_state"] == Cell(aligned=1, not_checked=1)


@pytest.mark.parametrize(
    ("fields", "cell"),
    [
        ({}, Cell(wrong=1)),
        ({"kind": "unsupported", "level": "refuses"}, Cell(refuses=1)),
        ({"kind": "crash"}, Cell(crashed=1)),
        ({"kind": "timeout"}, Cell(crashed=1)),
        ({"kind": "out_of_memory"}, Cell(crashed=1)),
        ({"kind": "crash", "level": "known"}, Cell(known=1)),
        ({"kind": "layout", "level": "stricter"}, Cell(known=1)),
        ({"kind": "missing", "level": "counted"}, Cell(refuses=1)),
    ],
)
def test_outcomes(cells, row, fields, cell):
    """A divergence is wrong, a refusal or a crash, unless it is known; what is only counted is a refusal."""
    found = cells({"verdict": "divergent", "divergences": [row(phase="graph_backward", **fields)]})
    assert found["relu"]["graph_backward"] == cell


def test_worst_of_a_case_counts(cells, row):
    """Two divergences of one op in one phase are one case, the worse."""
    rows = [row(level="known", phase="graph_forward"), row(phase="graph_forward", kind="dtype")]
    found = cells({"verdict": "divergent", "divergences": rows})["relu"]
    assert found["graph_forward"] == Cell(wrong=1)
    assert found["graph_backward"] == Cell(not_checked=1)


def test_other_ops_of_a_divergent_case(cells, row):
    """An op beside the blamed one is aligned; the blamed one's gradients and graph are not claimed to be."""
    found = cells({"ops": ["relu", "add"], "verdict": "divergent", "divergences": [row()]})
    assert [found["relu"][phase] for phase in ALL_PHASES] == [
        Cell(wrong=1),
        Cell(not_checked=1),
        Cell(not_checked=1),
        Cell(not_checked=1),
    ]
    assert set(found["add"].values()) == {Cell(aligned=1)}


@pytest.mark.parametrize("kind", ["exception", "missing", "unsupported", "crash", "timeout"])
def test_case_that_ended_early(cells, row, kind):
    """Where the eager run ended, the case's other ops were checked in no phase."""
    off = {"forward": "its eager run failed", "backward": "off"}
    fields = {"ops": ["relu", "add"], "verdict": "divergent", "graph": off, "divergences": [row(kind=kind)]}
    assert set(cells(fields)["add"].values()) == {Cell(not_checked=1)}


def test_death_in_the_graph(cells, row):
    """A graph that killed the target leaves the eager phases compared."""
    dead = {"forward": "the graph ended in a crash", "backward": "off"}
    divergence = row(kind="crash", phase="graph_forward")
    found = cells({"verdict": "crashed", "graph": dead, "divergences": [divergence]})["relu"]
    assert [found[phase] for phase in ALL_PHASES] == [
        Cell(aligned=1),
        Cell(aligned=1),
        Cell(crashed=1),
        Cell(not_checked=1),
    ]


def test_death_without_a_row(cells):
    """A crash that left no divergence claims nothing."""
    assert set(cells({"verdict": "crashed"})["relu"].values()) == {Cell(not_checked=1)}
    assert set(cells({"verdict": "out_of_memory"})["relu"].values()) == {Cell(not_checked=1)}


def test_program_as_a_whole(cells, row):
    """What no call shows counts under `program`, and the case's ops are not called aligned there."""
    divergence = row(op="program", phase="graph_forward", kind="batch_only")
    found = cells({"ops": ["relu", "add"], "verdict": "divergent", "divergences": [divergence]})
    assert found["program"] == {"graph_forward": Cell(wrong=1)}
    assert found["add"]["graph_forward"] == found["add"]["graph_backward"] == Cell(not_checked=1)
    assert found["add"]["eager_backward"] == Cell(aligned=1)


def test_program_of_one_op(cells, row):
    """The whole of a program of one op is that op."""
    divergence = row(op="program", phase="graph_forward", kind="batch_only")
    assert cells({"verdict": "divergent", "divergences": [divergence]})["relu"]["graph_forward"] == Cell(wrong=1)


def test_rejected_and_skipped(cells, row):
    """A refused draw counts only for its divergence, a skipped case as not checked."""
    refused = {"verdict": "rejected", "ops": [], "graph": None, "divergences": [row(kind="accepts_invalid")]}
    skipped = {"verdict": "skipped", "ops": ["add"], "graph": None}
    assert cells(refused, skipped, {"verdict": "rejected", "ops": ["sub"], "graph": None}) == {
        "add": dict.fromkeys(ALL_PHASES, Cell(not_checked=1)),
        "relu": {"eager_forward": Cell(wrong=1)},
    }


def test_worst_ops_first(summed, case, row):
    """Crashes come before wrong results, these before refusals and known ones; then the more cases, then the name."""
    fields = {
        "f": {"kind": "crash"},
        "e": {},
        "d": {},
        "c": {"kind": "missing", "level": "refuses"},
        "b": {"level": "known"},
    }
    records = []
    for index, (op, how) in enumerate([*fields.items(), ("e", {})]):
        divergence = row(op=op, phase="graph_forward", **how)
        records += case(index=index, ops=[op], verdict="divergent", divergences=[divergence])
    records += case(index=8, ops=["a"])
    records += case(index=9, ops=["z"], verdict="skipped")
    matrix = summed(*records).matrix
    assert matrix.ranked == ["f", "e", "d", "c", "b", "a", "z"]
    assert (matrix.aligned, matrix.unchecked) == (1, 1)


def test_json_form(summed, case):
    """summary.json holds every count of every op and phase."""
    integer = {"forward": "off", "backward": "nothing to differentiate"}
    counts = {"aligned": 0, "undecidable": 0, "known": 0, "refuses": 0, "wrong": 0, "crashed": 0, "not_checked": 0}
    assert summed(*case(graph=integer)).to_json()["matrix"] == {
        "relu": {"eager_forward": {**counts, "aligned": 1}, "graph_forward": {**counts, "not_checked": 1}}
    }


def test_tests_of_an_op(summed, case, row):
    """Each op names the tests that called it, once and sorted, and those that only showed a divergence of it."""
    refused = row(op="sub", kind="accepts_invalid")
    records = [
        *case("t::b"),
        *case("t::a", 1),
        *case("t::a", 2, ops=["add", "relu"]),
        *case("t::c", 3, ops=["mul"], verdict="rejected", divergences=[refused]),
    ]
    assert summed(*records).matrix.tests == {"add": ("t::a",), "relu": ("t::a", "t::b"), "sub": ("t::c",)}
