"""A Program as a graph, as plain data: its inputs and calls, the tensors between them, and what is wrong of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from autotest.compare.difference import Part
from dual_object.program.calls import op_name
from dual_object.program.printing import lines, names
from dual_object.program.program import Program
from dual_object.program.values import refs

#: A Program of fewer calls is its own picture, and one of more is none that anybody could read.
LEAST, MOST = 2, 80
#: Calls that compute nothing: where a region, such as `no_grad()`, begins and ends.
_REGIONS = ("enter", "exit")
#: The parts of an observation that a backward gives.
_OF_BACKWARD = ("gradient", "second")


def call_graph(
    program: Program, call: int | None, part: Part, types: Callable[[], Mapping[int, str]]
) -> dict[str, Any] | None:
    """The graph of a Program, of which `call` is to blame for what differs in a `part`; `types` says what its values
    are, and is not asked where there is no graph: None, where it has too few calls or too many.

    A node is `[kind, label, line, mark]`: an `input`, a `call` or what is `returned`; its mark is `wrong` at the call
    to blame, `tainted` at what is computed of it, and empty elsewhere. In a backward a gradient goes on to what the
    call was computed of, so that is tainted. An edge is `[from, to, name, type]`, its nodes by their place in the list.
    """
    entered = {id_ for one in program.calls if one.kind == "enter" for id_ in one.operands()}
    shown = [
        index
        for index, one in enumerate(program.calls)
        if one.kind not in _REGIONS and not entered.intersection(one.results())
    ]
    if not LEAST <= len(shown) <= MOST:
        return None
    typed, spelled, printed = types(), names(program), {line.call: line.text.strip() for line in lines(program)}
    nodes = [["input", spelled[x.id], "", ""] for x in program.inputs]
    made = {x.id: number for number, x in enumerate(program.inputs)}
    edges: list[list[Any]] = []
    blamed: int | None = None

    def join(given: Iterable[int]) -> None:
        for id_ in dict.fromkeys(given):
            if id_ in made:
                edges.append([made[id_], len(nodes), spelled.get(id_, ""), typed.get(id_, "")])

    for index in shown:
        one = program.calls[index]
        join(one.operands())
        blamed = len(nodes) if index == call else blamed
        made |= dict.fromkeys(one.results(), len(nodes))
        nodes.append(["call", op_name(one), printed.get(index, ""), ""])
    join(refs(program.outputs))
    nodes.append(["returned", "returned", "", ""])
    if blamed is not None:
        for number in _reached(blamed, edges, backward=part in _OF_BACKWARD):
            nodes[number][-1] = "tainted"
        nodes[blamed][-1] = "wrong"
    return {"nodes": nodes, "edges": edges}


def _reached(start: int, edges: Iterable[list[Any]], *, backward: bool) -> set[int]:
    """The nodes that can be reached from one along the edges, or against them."""
    pairs = [(target, source) if backward else (source, target) for source, target, *_ in edges]
    found, new = {start}, {start}
    while new:
        new = {target for source, target in pairs if source in new} - found
        found |= new
    return found


__all__ = ["LEAST", "MOST", "call_graph"]
