"""Causes: what divergences of several ops share."""

from __future__ import annotations

from reports import markdown_text, render
from reports.findings.causes import causes
from reports.findings.finding import findings


def found(summed, case, row, *places, level="wrong", cause=None):
    """The causes of a run with a divergence at each place: phase, kind, op and facts."""
    records = []
    for index, (phase, kind, op, facts) in enumerate(places):
        fields = {"phase": phase, "kind": kind, "op": op, "level": level, "id": f"{index:08x}"}
        made = row(**fields, fingerprint=f"oneflow/{phase}/{kind}/{op}/{facts}", **({"cause": cause} if cause else {}))
        records += case("t.py::test_a", index, ops=[op], verdict="divergent", divergences=[made])
    return causes(findings(summed(*records).all_divergences))


def test_ops_share_needs_and_kind(summed, case, row):
    """What needs the same and fails the same way is one cause, whatever the dtype; another need is another."""
    at = ("eager_forward", "value")
    places = [(*at, "relu", "float32,empty"), (*at, "add", "float64,empty"), (*at, "mul", "float32,strided")]
    [shared] = found(summed, case, row, *places)
    assert shared.words == "2 ops, 2 divergences: gives wrong values on size 0, eager forward"
    assert (shared.ops, shared.level) == (("add", "relu"), "new")


def test_one_op_shares_nothing(summed, case, row):
    """Two dtypes of one op are no cause of several."""
    at = ("eager_forward", "value", "relu")
    assert found(summed, case, row, (*at, "float32"), (*at, "float64")) == []


def test_phase_and_kind_part(summed, case, row):
    """Another phase, or another kind, is another cause."""
    at = [("eager_forward", "value"), ("graph_forward", "value"), ("eager_forward", "sign")]
    assert found(summed, case, row, *((*place, f"op{i}", "float32") for i, place in enumerate(at))) == []


def test_same_words_are_one_cause(summed, case, row):
    """Of exceptions the words count, and not by which keyword the op was called; other words are another cause."""
    at = ("eager_forward", "exception")
    places = [(*at, "max", "float32,dim="), (*at, "min", "float32,method")]
    [shared] = found(summed, case, row, *places, cause="no kernel for ()")
    assert shared.title == "raises, eager forward: no kernel for ()"
    assert found(summed, case, row, *places) == []


def test_words_that_name_their_op(summed, case, row):
    """What is said of each op by its name is said of all of them; a name within another word is none."""
    rows = []
    for index, op in enumerate(("i0", "special.i1")):
        name = op.rpartition(".")[2]
        place = f"oneflow/eager_forward/missing/{op}/none"
        fields = {"op": op, "kind": "missing", "id": f"{index:08x}", "fingerprint": place}
        rows.append(row(**fields, cause=f"oneflow has no '{name}' in i0_i1"))
    records = [r for i, one in enumerate(rows) for r in case("t.py::a", i, verdict="divergent", divergences=[one])]
    [shared] = causes(findings(summed(*records).all_divergences))
    assert shared.title == "is missing, eager forward: oneflow has no 'OP' in i0_i1"


def test_known_is_a_cause_of_its_own(summed, case, row):
    """What a ledger explains is told at its level."""
    at = ("eager_forward", "missing")
    [shared] = found(summed, case, row, (*at, "a", "none"), (*at, "b", "none"), level="known")
    assert (shared.level, shared.title) == ("known", "is missing, eager forward")


def test_most_ops_first(summed, case, row):
    """The cause of most ops comes first; one of an unknown kind names it."""
    at = ("eager_forward", "value")
    few = [("eager_forward", "odd_kind", f"f{i}", "float32,p=") for i in range(2)]
    shared = found(summed, case, row, *few, *((*at, f"m{i}", "float32") for i in range(3)))
    assert [cause.title for cause in shared] == [
        "gives wrong values, eager forward",
        "diverges (odd kind) with p, eager forward",
    ]


def test_at_most_five_lines(summed, case, row):
    """Terminal and Markdown name five causes of red divergences, then how many more there are; none of a known one."""
    records = []
    for index in range(14):
        at = f"oneflow/phase_{index % 6}/value/op{index}/float32"
        made = row(phase=f"phase_{index % 6}", op=f"op{index}", fingerprint=at, id=f"{index:08x}")
        level = "known" if index > 11 else "wrong"
        records += case("t.py::test_a", index, verdict="divergent", divergences=[{**made, "level": level}])
    summary = summed(*records)
    heading = "Shared by several ops: a guess at the cause"
    line, rest = "2 ops, 2 divergences: gives wrong values, phase 4", "and 1 more shared cause, see the report"
    [shown] = [part for part in render(summary).split("\n\n") if heading in part]
    assert (shown.count("2 ops, 2 divergences"), line in shown, rest in shown) == (5, True, True)
    told = markdown_text(summary)
    assert f"**{heading}**" in told
    assert told.count("- `2 ops, 2 divergences") == 5
    assert f"- `{rest}`" in told
