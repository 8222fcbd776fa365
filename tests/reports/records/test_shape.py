"""A record with a wrong field is refused by name."""

from __future__ import annotations

import pytest

from reports.records.shape import fault_of

SHRUNK = {
    "type": "shrunk",
    "test": "test_x.py::test_a",
    "fingerprint": "f",
    "shrunk": {
        "program": "def program(torch, x):",
        "blamed_line": None,
        "values": ["x = torch.tensor(0.0)"],
        "calls": 1,
        "elements": 1,
        "seconds": 0.5,
        "runs": 7,
        "note": None,
        "check": "autotest check 'torch.relu(tensor(0.0))'",
    },
}


BLAME = {"type": "blame", "test": "t", "fingerprint": "f", "blame": {"verdict": "target", "reason": "r", "worst": None}}
ELEMENT = {"index": [0], "reference": 1.0, "target": "nan", "exact": 1.0, "reference_ulp": 0.0, "target_ulp": None}
LOSSES = {"reference": [0.5, 1e300], "eager": [0.5, "nan"], "graph": None, "words": []}
LOSSES |= {"parting": {"step": 2, "words": "at step 2, in the forward: loss"}}

REACHED = {
    "type": "reached",
    "test": "t",
    "laid_out": {"cases": 1, "refused": 0, "pairs": 0, "covered": 0},
    "groups": [{"ops": ["relu"], "cells": {"float32 2 contiguous nan": [1, 0, 0, 0, 0, 0]}}],
}

INFERRED = {"type": "inferred", "test": "t", "asked": 1, "refused": {"why": 1}, "disagreements": []}


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({}, None),
        ({"asked": "1"}, "asked='1', but should be an integer"),
        ({"refused": {"why": "1"}}, "refused={'why': '1'}, but should be an object of integers"),
        (
            {"disagreements": [{"op": "relu"}]},
            "disagreements=[{'op': 'relu'}], but should be a list of objects with inputs, and with the strings "
            "op, aspect, key, value, eager, meta, program",
        ),
    ],
)
def test_shape_inference(fields, fault):
    """Counts are integers, and a disagreement has all that a report tells of it."""
    assert fault_of({**INFERRED, **fields}) == fault


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        (
            {"laid_out": {"cases": 1}},
            "laid_out={'cases': 1}, but should be an object of the integers cases, covered, pairs, refused",
        ),
        (
            {"groups": [{"ops": [], "cells": {"float32 2": [0] * 6}}]},
            "groups=[{'ops': [], 'cells': {'float32 2': [0, 0, 0, 0, 0, 0]}}], "
            "but should be a list of objects with ops and cells: four levels, and six integers for each",
        ),
        (
            {"groups": [{"ops": [], "cells": {"a b c d": [1.5]}}]},
            "groups=[{'ops': [], 'cells': {'a b c d': [1.5]}}], "
            "but should be a list of objects with ops and cells: four levels, and six integers for each",
        ),
    ],
)
def test_bad_cells(fields, fault):
    """A cell has as many levels and counts as the report reads."""
    assert fault_of({**REACHED, **fields}) == fault


def test_good_records(header, case, ended, row, evidence, element):
    """Records as the writers make them have no fault."""
    shown = evidence(
        facts=[["dtype", "float32", None, "float64"]],
        words=["1 of 1 element differs"],
        worst=[element()],
        heat={"shape": [1, 2], "rows": 1, "columns": 2, "cells": [[0.0, "not finite"]], "note": ""},
        histogram=[["0", 1], ["not finite", 1]],
        losses=LOSSES,
    )
    rows = [row(), row(level="known", reason="why", evidence=shown), row(evidence=evidence(program=None))]
    start, end = case(divergences=rows)
    target = {"type": "target", "environment": {}, "devices": ["cpu"]}
    surface = {"type": "surface", "registry": ["relu"], "touched": [], "names": ["relu"], "time": 5.0}
    records = (
        header(),
        header(commit=None, path=None),
        target,
        surface,
        start,
        end,
        ended(),
        {**ended(), "line": None},
        {"type": "remembered", "test": "t", "aligned": 2, "problems": ["damaged"]},
        REACHED,
        SHRUNK,
        {**SHRUNK, "shrunk": {**SHRUNK["shrunk"], "program": None, "note": "spent", "calls": None, "elements": None}},
    )
    records += (BLAME, {**BLAME, "blame": {"verdict": "not judged", "reason": "r", "worst": ELEMENT}})
    assert [fault_of(record) for record in records] == [None] * 14


@pytest.mark.parametrize("change", [{"verdict": "nobody"}, {"reason": None}, {"worst": {"index": [0]}}])
def test_damaged_blame(change):
    """A verdict that none is, one without a reason, and half an element are refused."""
    fault = fault_of({**BLAME, "blame": {**BLAME["blame"], **change}})
    assert fault is not None
    assert fault.startswith("blame={'verdict': ")
    assert fault.endswith(
        ", but should be an object with a reason, and a verdict that is one of "
        "target, reference, ill_conditioned, nondeterministic, undecided, not judged"
    )


@pytest.mark.parametrize(
    "change", [{"calls": None}, {"program": None}, {"values": None}, {"runs": 1.5}, {"seconds": ""}]
)
def test_damaged_shrunk(change):
    """A shrunk program without its size, or none without a reason, is refused."""
    fault = fault_of({**SHRUNK, "shrunk": {**SHRUNK["shrunk"], **change}})
    assert fault is not None
    assert fault.startswith("shrunk={'program': ")
    assert fault.endswith(", but should be an object with a program and its size, or with a note why there is none")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (
            {"verdict": "fine"},
            "verdict='fine', but should be one of aligned, divergent, undecidable, rejected, skipped, crashed, "
            "timed_out, out_of_memory",
        ),
        ({"verdict": ["aligned"]}, None),
        ({"seconds": 1e999}, "seconds=inf, but should be a finite number"),
        ({"seconds": True}, "seconds=True, but should be a finite number"),
        ({"ops": [1]}, "ops=[1], but should be a list of strings"),
        ({"dtypes": None}, "dtypes=None, but should be a list of strings"),
        (
            {"graph": {"forward": "off"}},
            "graph={'forward': 'off'}, but should be null or an object with the strings forward and backward, "
            "and capture: absent or captured, recompiled, broken, refused; "
            "captures: absent or a list of one of these and a reason for each executor; "
            "configurations: absent or a string for each; lowered: absent or a string",
        ),
        ({"graph": {"forward": "off", "backward": "off", "lowered": ["verified"]}}, None),
        (
            {"graph": {"forward": "off", "backward": "off", "captures": {"torch:eager": ["no", ""]}}},
            None,
        ),
        ({"divergences": [3]}, "divergences[0]=3, but should be an object"),
        (
            {"type": "begin"},
            "type='begin', but should be one of run, target, surface, start, ahead, end, left_out, reached, inferred, "
            "test, stop, tolerance, shrunk, blame, remembered, fault",
        ),
        (
            {"type": []},
            "type=[], but should be one of run, target, surface, start, ahead, end, left_out, reached, inferred, "
            "test, stop, tolerance, shrunk, blame, remembered, fault",
        ),
        (
            {"test": ["x" * 99]},
            f"test=['{'x' * 55}..., but should be a string",
        ),
    ],
)
def test_wrong_field_is_named(case, change, fault):
    """The sentence names the field, its value and what it should be."""
    found = fault_of({**case()[1], **change})
    if fault is None:
        assert found is not None
    else:
        assert found == fault


def test_wrong_field_of_a_row(case, row):
    """A fault inside a divergence names its place."""
    record = case(divergences=[row(), row(kind=None)])[1]
    assert fault_of(record) == "divergences[1].kind=None, but should be a string"


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"level": "error"}, "level='error', but should be one of wrong, refuses, stricter, counted, known"),
        ({"level": None}, "level=None, but should be one of wrong, refuses, stricter, counted, known"),
        ({"reason": 3}, "reason=3, but should be a string or null"),
        ({"evidence": []}, "evidence=[], but should be an object or null"),
        ({"present": "p="}, "present='p=', but should be a list of strings or absent"),
        ({"stages": ["right"]}, "stages=['right'], but should be an object of strings, or absent"),
    ],
)
def test_new_fields_of_a_row(case, row, change, fault):
    """Level, reason and evidence of a divergence are held to what they may be."""
    assert fault_of(case(divergences=[row(**change)])[1]) == f"divergences[0].{fault}"


WORST = "but should be a list of objects with absolute, eager, graph, index, reference, relative, ulp"
HEAT = "but should be null or an object whose cells have its rows and columns"
WHOLE = (
    "but should be absent, null or an object with shape, with reference, eager, graph: null or rows of strings, and "
    "with wrong: rows of 0 and 1"
)
PAIRS = "but should be null or a list of pairs of a string and an integer"
CURVES = (
    "but should be absent, null or an object with words, with reference, eager, graph: null or a number, a word "
    "or null for each step, and with parting: null or a step among them and words"
)
FACTS = "but should be a list of rows of four strings or nulls"


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"program": 1}, "program=1, but should be a string or null"),
        ({"blamed_line": "2"}, "blamed_line='2', but should be an integer or null"),
        ({"blamed_line": True}, "blamed_line=True, but should be an integer or null"),
        ({"last_words": []}, "last_words=[], but should be a string or null"),
        ({"words": [None]}, "words=[None], but should be a list of strings"),
        ({"facts": None}, f"facts=None, {FACTS}"),
        ({"facts": [["dtype", "a", "b"]]}, f"facts=[['dtype', 'a', 'b']], {FACTS}"),
        ({"facts": [["dtype", "a", "b", 3]]}, f"facts=[['dtype', 'a', 'b', 3]], {FACTS}"),
        ({"worst": {}}, f"worst={{}}, {WORST}"),
        ({"worst": [{"index": [0]}]}, f"worst=[{{'index': [0]}}], {WORST}"),
        ({"heat": []}, f"heat=[], {HEAT}"),
        ({"heat": {"cells": []}}, f"heat={{'cells': []}}, {HEAT}"),
        *(
            ({"whole": whole}, f"whole={whole!r}, {WHOLE}")
            for whole in (
                [],
                {"shape": [1], "reference": [["1"]]},
                {"shape": [1], "reference": [["1"]], "wrong": [[2]]},
                {"shape": [1], "reference": [["1"]], "wrong": [[0, 1]]},
                {"shape": [1], "reference": [[1]], "wrong": [[0]]},
                {"shape": [1], "reference": "1", "wrong": [[0]]},
            )
        ),
        ({"histogram": {}}, f"histogram={{}}, {PAIRS}"),
        ({"histogram": [["0"]]}, f"histogram=[['0']], {PAIRS}"),
        ({"histogram": [["0", 1.5]]}, f"histogram=[['0', 1.5]], {PAIRS}"),
        ({"histogram": [[0, 1]]}, f"histogram=[[0, 1]], {PAIRS}"),
        ({"losses": 1}, f"losses=1, {CURVES}"),
        ({"losses": {"reference": [1.0]}}, f"losses={{'reference': [1.0]}}, {CURVES}"),
    ],
)
def test_wrong_field_of_evidence(case, row, evidence, change, fault):
    """A fault inside evidence names the divergence and the field."""
    record = case(divergences=[row(), row(evidence=evidence(**change))])[1]
    assert fault_of(record) == f"divergences[1].evidence.{fault}"


def test_element_without_a_place(case, row, evidence, element):
    """A worst element whose index is no list is no element."""
    fault = fault_of(case(divergences=[row(evidence=evidence(worst=[element(index=3)]))])[1])
    assert fault is not None
    assert fault.startswith("divergences[0].evidence.worst=[{'index': 3,")


@pytest.mark.parametrize(
    "change", [{"rows": 2}, {"columns": 1}, {"cells": [[0.0, 1.0], [0.0]]}, {"note": None}, {"shape": None}]
)
def test_map_that_is_not_its_size(case, row, evidence, change):
    """A map of errors whose cells are not its rows and columns is refused before anything draws it."""
    heat = {"shape": [1, 2], "rows": 1, "columns": 2, "cells": [[0.0, 1.0]], "note": ""}
    assert fault_of(case(divergences=[row(evidence=evidence(heat=heat))])[1]) is None
    fault = fault_of(case(divergences=[row(evidence=evidence(heat={**heat, **change}))])[1])
    assert fault is not None
    assert fault.endswith(HEAT)


@pytest.mark.parametrize(
    "change",
    [
        {"eager": [0.5]},
        {"eager": [0.5, True]},
        {"eager": [0.5, "no number"]},
        {"eager": [0.5, float("inf")]},
        {"eager": 0.5},
        {"words": None},
        {"parting": {"step": 0, "words": "w"}},
        {"parting": {"step": 3, "words": "w"}},
        {"parting": {"step": 1}},
        {"parting": []},
    ],
)
def test_losses_that_are_no_curves(case, row, evidence, change):
    """Losses that no curve can be drawn of are refused before anything draws it; they may be as large as floats go."""
    assert fault_of(case(divergences=[row(evidence=evidence(losses={**LOSSES, "graph": [1e300, 1e-300]}))])[1]) is None
    assert fault_of(case(divergences=[row(evidence=evidence(losses=None))])[1]) is None
    fault = fault_of(case(divergences=[row(evidence=evidence(losses={**LOSSES, **change}))])[1])
    assert fault is not None
    assert fault.endswith(CURVES)


def test_evidence_that_lacks_a_field(case, row, evidence):
    """Evidence of a record has each of its fields, also those that may be null."""
    shown = evidence()
    del shown["facts"]
    assert fault_of(case(divergences=[row(evidence=shown)])[1]) == f"divergences[0].evidence.facts=None, {FACTS}"


@pytest.mark.parametrize(
    ("record", "fault"),
    [
        ({"type": "target", "environment": {}, "devices": "cpu"}, "devices='cpu', but should be a list of strings"),
        (
            {"type": "surface", "registry": [], "touched": [], "names": [1]},
            "names=[1], but should be a list of strings",
        ),
        ({"type": "surface", "registry": []}, "touched=None, but should be a list of strings"),
    ],
)
def test_what_a_target_tells(record, fault):
    """Devices and surface of a target are lists of names."""
    assert fault_of(record) == fault


def test_facts_of_a_run(header, ended):
    """Commit and path may be unknown, a test's line too; the command may not."""
    assert fault_of(header(commit=1)) == "commit=1, but should be a string or null"
    assert fault_of(header(path=1)) == "path=1, but should be a string or null"
    assert fault_of(header(command=None)) == "command=None, but should be a string"
    assert fault_of({**ended(), "line": "12"}) == "line='12', but should be an integer or null"


SAMPLE = {"along": "x", "of": 3, "elements": [[1.0, 2, "nan", 0.1, 7.0], ["inf", 1.0, 1.0, None, None]]}


@pytest.mark.parametrize(
    "change",
    [
        {"along": None},
        {"of": 1.5},
        {"elements": None},
        {"elements": [[1.0, 2.0, 3.0, None]]},
        {"elements": [[None, 2.0, 3.0, None, None]]},
        {"elements": [[1.0, 2.0, "<b>", None, None]]},
    ],
)
def test_sample_that_is_no_list_of_elements(case, row, evidence, change):
    """A sample has its input's name, how many elements there were, and five parts of each that is told."""
    for sample in (SAMPLE, None):
        assert fault_of(case(divergences=[row(evidence=evidence(sample=sample))])[1]) is None
    fault = fault_of(case(divergences=[row(evidence=evidence(sample={**SAMPLE, **change}))])[1])
    assert fault is not None
    assert fault.startswith("divergences[0].evidence.sample={")
    assert fault.endswith(
        ", but should be absent, null or an object with along, of, and elements: a list of input, expected, actual, "
        "allowed and ulp each"
    )


GRAPH = {
    "nodes": [
        ["input", "x", "", ""],
        ["call", "relu", "t0 = torch.relu(x)", "wrong"],
        ["returned", "returned", "", "tainted"],
    ],
    "edges": [[0, 1, "x", "float32[2]"], [1, 2, "t0", ""]],
}


@pytest.mark.parametrize(
    "change",
    [
        {"nodes": None},
        {"nodes": [["input", "x", ""]]},
        {"nodes": [["output", "x", "", ""]]},
        {"nodes": [["input", "x", "", "right"]]},
        {"nodes": [["input", 1, "", ""]]},
        {"edges": None},
        {"edges": [[0, 1, "x"]]},
        {"edges": [[0, 3, "x", ""]]},
        {"edges": [[-1, 0, "x", ""]]},
        {"edges": [[0, True, "x", ""]]},
        {"edges": [[0, 1, "x", None]]},
    ],
)
def test_graph_that_is_none(case, row, evidence, change):
    """A graph has nodes of known kinds, and edges between two of these."""
    for graph in (GRAPH, None):
        assert fault_of(case(divergences=[row(evidence=evidence(graph=graph))])[1]) is None
    fault = fault_of(case(divergences=[row(evidence=evidence(graph={**GRAPH, **change}))])[1])
    assert fault is not None
    assert fault.startswith("divergences[0].evidence.graph={")
    assert fault.endswith(
        ", but should be absent, null or an object with nodes: a list of kind (input, call, returned), label, line and "
        "mark (wrong, tainted or empty) each, and edges: a list of the places of two nodes, a name and a type each"
    )
