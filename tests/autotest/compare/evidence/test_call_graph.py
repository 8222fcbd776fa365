"""A Program as a graph: its nodes and edges, and what of it is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from autotest import torch
from autotest.compare.difference import Part
from autotest.compare.evidence.call_graph import MOST, call_graph
from autotest.compare.evidence.value_types import value_types
from dual_object.adapters.torch.adapter import Adapter
from dual_object.program.program import Program
from support.programs import given, recorded


def program(reference: Adapter, body: Callable[[], Any]) -> Program:
    """The Program of a body."""
    return recorded(reference, body)[0]


def body() -> Any:
    """Three calls, one of which is in place, and one of which nothing comes."""
    x, y = given([1.0, 2.0, 3.0], grad=True), given(2.0)
    z = torch.relu(x) * y
    z.add_(1)
    torch.sign(y)
    with torch.no_grad():
        top = torch.topk(z, 2)[1]
    return z, top


def test_nodes_edges_and_types(reference: Adapter) -> None:
    """Inputs come first, then calls, then what is returned; regions are left out, and names are those of the text."""
    made = program(reference, body)
    graph = call_graph(made, None, "output", lambda: value_types(reference, made))
    assert graph is not None
    assert [node[:2] for node in graph["nodes"]] == [
        ["input", "x"], ["input", "y"], ["call", "relu"], ["call", "mul"], ["call", "add_"], ["call", "sign"],
        ["call", "topk"], ["returned", "returned"],
    ]  # fmt: skip
    assert graph["nodes"][3][2] in str(made)
    assert {node[3] for node in graph["nodes"]} == {""}
    three = "float32[1, 3]"
    assert [[*edge[:2], edge[3]] for edge in graph["edges"]] == [
        [0, 2, three], [2, 3, three], [1, 3, "float32[1]"], [3, 4, three], [1, 5, "float32[1]"], [4, 6, three],
        [4, 7, three], [6, 7, "int64[1, 2]"],
    ]  # fmt: skip
    assert all(edge[2] in str(made) for edge in graph["edges"])


@pytest.mark.parametrize(
    ("part", "marks"),
    [
        ("output", ["", "", "", "wrong", "tainted", "", "tainted", "tainted"]),
        ("gradient", ["tainted", "tainted", "tainted", "wrong", "", "", "", ""]),
    ],
)
def test_what_is_wrong_goes_on(reference: Adapter, part: Part, marks: list[str]) -> None:
    """A result to what is computed of it, a gradient to what its call was computed of."""
    made = program(reference, body)
    call = next(index for index, one in enumerate(made.calls) if one.op == "mul")
    graph = call_graph(made, call, part, dict)
    assert graph is not None
    assert [node[3] for node in graph["nodes"]] == marks
    assert {edge[3] for edge in graph["edges"]} == {""}


@pytest.mark.parametrize(("count", "drawn"), [(1, False), (2, True), (MOST, True), (MOST + 1, False)])
def test_programs_that_are_drawn(reference: Adapter, count: int, drawn: bool) -> None:
    """One call is its own picture; of very many there is none."""

    def chain() -> Any:
        value = given(1.0)
        for _ in range(count):
            value = torch.neg(value)
        return value

    made = program(reference, chain)
    assert (call_graph(made, 0, "output", dict) is not None) == drawn


def test_types_end_where_the_reference_does(reference: Adapter) -> None:
    """What cannot be run by itself tells of its inputs."""
    made = program(reference, body)
    made.inline = "a raw tensor"
    assert value_types(reference, made) == {made.inputs[0].id: "float32[1, 3]", made.inputs[1].id: "float32[1]"}
