"""Paddle's static graph: a Program traced by `to_static` as a whole, and its backward through that.

`to_static` reads the source of what it is given and rewrites it, so that the replay itself must be kept from it: the
body is `not_to_static`, in a function that does nothing but call it. All tensors come as one list, for it takes them
apart by its signature.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Protocol

import paddle

from dual_object.program.program import Program
from dual_object.program.values import Array
from dual_object.replay.adapter import Adapter, GraphRefusal
from dual_object.replay.gradients import Tape
from dual_object.replay.observation import Failure, Observation, class_names, first_words
from dual_object.replay.reading import module_buffers, see
from dual_object.replay.replay import Replay
from dual_object.replay.second_call import place_again
from dual_object.replay.tracing import TraceRefused, leaf, obstacle, returned_tensors, setup_calls, traced_calls

_EAGER_ALONE = re.compile(r"We only support '(\w+)\(\)' in dynamic graph mode")
_LACKED = re.compile(r"paddle has no 'Tensor\.(\w+)'")


class Taped(Adapter, Tape, Protocol):
    """What a graph asks of the eager adapter."""


def static_graph(
    adapter: Taped, program: Program, keys: Sequence[str], again: Sequence[Array] | None
) -> Observation | GraphRefusal:
    """What the graph of a Program shows, with the gradients of the leaves at `keys`; `again` are the inputs of a second
    call.
    """
    reason = obstacle(program)
    if reason is None and program.leaves:
        reason = "the body makes leaves, which are none outside of a graph"
    if reason is not None:
        return GraphRefusal(True, None, (), reason)
    stopped: list[Exception] = []
    try:
        return _Graph(adapter, program, keys, stopped).shows(again)
    except Exception as error:
        cause = stopped[0] if stopped else error
        if isinstance(cause, TraceRefused):
            op = _eager_alone(cause.failure)
            return (
                cause.as_refusal()
                if op is None
                else GraphRefusal(True, None, (), f"Paddle's static graphs have no {op}")
            )
        if isinstance(cause, _Rebound):
            return GraphRefusal(True, None, (), str(cause))
        return GraphRefusal(False, None, class_names(cause), first_words(cause))


def _eager_alone(failure: Failure) -> str | None:
    """The op of which Paddle says that no static graph has it, or which what stands for a tensor there lacks: the
    Program has run eagerly, where the op was to be had.
    """
    said = _EAGER_ALONE.search(failure.message)
    if said is not None:
        return said[1]
    lacked = _LACKED.search(failure.message) if failure.kind == "missing" else None
    return None if lacked is None else lacked[1]


class _Rebound(Exception):  # noqa: N818 - a reason that is counted, not a fault
    """A call that should return its own operand gave another tensor, as Paddle says by a warning that it does while it
    traces: a body that goes on with the operand goes on with what it was.
    """


class _Graph:
    """One Program in one static function. What stops its trace is in `stopped`: `to_static` raises another error of it,
    or fails over it.
    """

    def __init__(self, adapter: Taped, program: Program, keys: Sequence[str], stopped: list[Exception]) -> None:
        self._adapter = adapter
        self._program = program
        self._keys = keys
        self._replay = Replay(adapter, program)
        self._returned: list[int] = []
        for x in program.inputs:
            self._replay.place(x)
        for index in setup_calls(program):
            self._step(index)
        self._first = [self._replay.values.by_id[x.id] for x in program.inputs]

        def body(tensors: list[Any]) -> list[Any]:
            try:
                return self._body(tensors)
            except Exception as error:
                stopped.append(error)
                raise

        kept = paddle.jit.not_to_static(body)

        def whole(tensors: list[Any]) -> Any:
            return kept(tensors)

        self._static = paddle.jit.to_static(whole, full_graph=True)

    def _step(self, index: int) -> None:
        self._replay.step(index, self._program.calls[index])
        if self._replay.seen.ended:
            raise TraceRefused(self._replay.seen.failures[-1])

    def _body(self, tensors: Sequence[Any]) -> list[Any]:
        """The traced calls, on whatever a tracer puts in the place of tensors."""
        values = self._replay.values
        for x, tensor in zip(self._program.inputs, tensors, strict=True):
            values.place(x.id, tensor)
        for index in traced_calls(self._program):
            self._step(index)
            # What stands for a tensor here may be another object each time; a write into one must not be.
            op = self._program.calls[index].op
            if self._replay.seen.structures.pop(index, None) is not None and op.endswith("_"):
                raise _Rebound(f"Paddle's static graphs write nothing in place ({op})")
        self._returned = returned_tensors(self._replay)
        return [values.by_id[id_] for id_ in self._returned]

    def shows(self, again: Sequence[Array] | None) -> Observation:
        """What a call shows, and a second one with other inputs."""
        seen = self._called(self._first, self._replay.seen)
        if again is not None:
            for module in self._replay.values.modules.values():
                for parameter in self._adapter.parameters(module).values():
                    self._adapter.forget_gradient(parameter)
            placed = place_again(self._adapter, self._program, again)
            seen.again = self._called([placed.values.by_id[x.id] for x in self._program.inputs], Observation())
        return seen

    def _called(self, tensors: Sequence[Any], seen: Observation) -> Observation:
        adapter, program = self._adapter, self._program
        tensors = [tensor.detach() for tensor in tensors]
        for x, tensor in zip(program.inputs, tensors, strict=True):
            if x.requires_grad or str(x.id) in self._keys:  # the body may ask it of an input
                adapter.want_grad(tensor)
        results = self._static(list(tensors))
        results = list(results) if isinstance(results, (list, tuple)) else [results]
        gradients = self._backward(tensors, results) if self._keys else {}
        buffers = module_buffers(adapter, program, self._replay.values)
        there = {key: gradient for key, gradient in gradients.items() if gradient is not None}
        shown = iter(see(adapter, [*results, *there.values(), *buffers.values()]))
        seen.outputs = {id_: next(shown) for id_ in self._returned}
        seen.gradients = {**dict.fromkeys(gradients), **{key: next(shown) for key in there}}
        seen.buffers = {key: next(shown) for key in buffers}
        return seen

    def _backward(self, tensors: Sequence[Any], results: Sequence[Any]) -> dict[str, Any]:
        """The gradients of the leaves, by key."""
        adapter, program = self._adapter, self._program
        given = dict(zip(self._returned, results, strict=True))
        starts = {
            id_: array for id_, array in program.cotangents.items() if id_ in given and adapter.describe(given[id_])[3]
        }
        if starts:
            adapter.backward([given[id_] for id_ in starts], list(starts.values()))
        inputs = {str(x.id): tensor for x, tensor in zip(program.inputs, tensors, strict=True)}
        return {key: adapter.gradient(inputs[key] if key in inputs else leaf(self._replay, key)) for key in self._keys}


__all__ = ["static_graph"]
