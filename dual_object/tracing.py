"""What every static graph shares: which Programs cannot be one, which calls belong into it, how a refusal is told."""

from __future__ import annotations

from typing import Any

from dual_object.adapter import GraphRefusal
from dual_object.observation import Failure
from dual_object.program import Program
from dual_object.replay import Replay
from dual_object.values import refs


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
    made = {x.id for x in program.inputs}
    for call in program.calls:
        if call.kind == "module" and not made.isdisjoint(call.operands()):
            return "a module is constructed from a tensor"
        if call.kind != "module":
            made.update(call.results())
        if call.kind in ("method", "function") and call.op.rpartition(".")[2] == "backward":
            return "the body calls backward itself"
        if (call.kind == "get" and call.op == "grad") or call.op == "autograd.grad":
            return "the body reads gradients"
    return None


def traced_calls(program: Program) -> list[int]:
    """Indices of the calls that belong into a static graph: no construction, no host reads, no refused calls."""
    return [
        index
        for index, call in enumerate(program.calls)
        if call.kind != "module" and not call.raises and (call.out is None or refs(call.out))
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
    return replay.values.by_id[int(id_)]
