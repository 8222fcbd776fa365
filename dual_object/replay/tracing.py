"""What every static graph shares: which Programs cannot be one, which calls belong into it, how a refusal is told."""

from __future__ import annotations

from typing import Any

from dual_object.program.calls import Call
from dual_object.program.program import Program
from dual_object.program.values import Ref, refs
from dual_object.replay.adapter import GraphRefusal
from dual_object.replay.observation import Failure
from dual_object.replay.replay import Replay


class TraceRefused(Exception):  # noqa: N818 - carries a Failure out of a trace
    """A call failed while a graph was traced."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure

    def as_refusal(self) -> GraphRefusal:
        """The same as a result of the batch."""
        failure = self.failure
        return GraphRefusal(False, failure.call, failure.classes, failure.message)


def obstacle(program: Program) -> str | None:
    """Why no static graph can stand for this Program, if none can."""
    if program.inline is not None:
        return program.inline
    if program.training is not None:
        return "this graph does not train"
    made = {x.id for x in program.inputs}
    constructions = {id(call) for call in program.modules()}
    modules: set[int] = set()
    setup = set(setup_calls(program))
    for index, call in enumerate(program.calls):
        if id(call) in constructions:
            if not made.isdisjoint(call.operands()):
                return "a module is constructed from a tensor"
            modules.update(call.results())
        elif index not in setup and _configures(call, modules):
            return "a module is changed after it was used"
        else:
            made.update(set(call.results()) - modules)
        if call.kind in ("method", "function") and call.op.rpartition(".")[2] == "backward":
            return "the body calls backward itself"
        if (call.kind == "get" and call.op == "grad") or call.op == "autograd.grad":
            return "the body reads gradients"
    if not traced_calls(program) and not refs(program.outputs):
        return "no call computes a tensor"
    return None


def setup_calls(program: Program) -> list[int]:
    """Indices of the calls that come before a static graph: modules are constructed, and configured (`to`, `eval`)
    before their first use; a graph's own block for a module refuses both.
    """
    constructions = {id(call) for call in program.modules()}
    indices: list[int] = []
    modules: set[int] = set()
    used: set[int] = set()
    for index, call in enumerate(program.calls):
        if id(call) in constructions:
            indices.append(index)
            modules.update(call.results())
        elif _configures(call, modules) and used.isdisjoint(call.operands()):
            indices.append(index)
        else:
            used.update(call.operands())
    return indices


def _configures(call: Call, modules: set[int]) -> bool:
    """Whether a module's own method changes it and returns it."""
    receiver = call.args[0] if call.args else None
    return call.kind == "method" and type(receiver) is Ref and receiver.id in modules and call.out == receiver


def traced_calls(program: Program) -> list[int]:
    """Indices of the calls that belong into a static graph: no setup, no host reads, no refused calls."""
    setup = set(setup_calls(program))
    return [
        index
        for index, call in enumerate(program.calls)
        if index not in setup and not call.raises and (call.out is None or refs(call.out))
    ]


def returned_tensors(replay: Replay) -> list[int]:
    """Numbers of the tensors that the body returned, each once."""
    by_id = replay.values.by_id
    tensor_type = replay.adapter.tensor_type
    return [id_ for id_ in dict.fromkeys(refs(replay.program.outputs)) if isinstance(by_id.get(id_), tensor_type)]


def leaf(replay: Replay, key: str) -> Any:
    """The leaf behind a gradient's key; while a graph is traced its inputs do not call themselves leaves."""
    id_, _, parameter = key.partition(".")
    if parameter:
        return replay.adapter.parameters(replay.values.modules[int(id_)])[parameter]
    return replay.values.inputs.get(int(id_), replay.values.by_id[int(id_)])
