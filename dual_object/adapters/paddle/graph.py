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

from dual_object.replay.adapter import Adapter
from dual_object.replay.gradients import Tape
from dual_object.replay.observation import Failure
from dual_object.replay.tracing import Graph, NotTraced, Trace, TraceRefused, leaf

_EAGER_ALONE = re.compile(r"We only support '(\w+)\(\)' in dynamic graph mode")
_LACKED = re.compile(r"paddle has no 'Tensor\.(\w+)'")


class Taped(Adapter, Tape, Protocol):
    """What a graph asks of the eager adapter."""


def static_graph(adapter: Taped, trace: Trace) -> Graph:
    """The graph of a Program, and a backward through it to the leaves whose gradients are wanted."""
    return _Graph(adapter, trace)


def _eager_alone(failure: Failure) -> str | None:
    """The op of which Paddle says that no static graph has it, or which what stands for a tensor there lacks: the
    Program has run eagerly, where the op was to be had.
    """
    said = _EAGER_ALONE.search(failure.message)
    if said is not None:
        return said[1]
    lacked = _LACKED.search(failure.message) if failure.kind == "missing" else None
    return None if lacked is None else lacked[1]


class _Graph:
    """One Program in one static function. What stops its trace is in `_stopped`: `to_static` raises another error of
    it, or fails over it.
    """

    def __init__(self, adapter: Taped, trace: Trace) -> None:
        self._adapter = adapter
        self._trace = trace
        self._stopped: list[Exception] = []

        def body(tensors: list[Any]) -> list[Any]:
            try:
                return trace.body(tensors, self._in_place)
            except Exception as error:
                self._stopped.append(error)
                raise

        kept = paddle.jit.not_to_static(body)

        def whole(tensors: list[Any]) -> Any:
            return kept(tensors)

        self._static = paddle.jit.to_static(whole, full_graph=True)

    def _in_place(self, index: int) -> None:
        """Raise NotTraced where a call that should return its own operand gave another tensor, as Paddle says by a
        warning that it does while it traces: a body that goes on with the operand goes on with what it was.
        """
        # What stands for a tensor here may be another object each time; a write into one must not be.
        op = self._trace.program.calls[index].op
        if self._trace.replay.seen.structures.pop(index, None) is not None and op.endswith("_"):
            raise NotTraced(f"Paddle's static graphs write nothing in place ({op})")

    def __call__(self, tensors: list[Any]) -> tuple[list[Any], dict[str, Any]]:
        """Run it, and the backward."""
        for module in self._trace.replay.values.modules.values():
            for parameter in self._adapter.parameters(module).values():
                self._adapter.forget_gradient(parameter)
        for x, tensor in zip(self._trace.program.inputs, tensors, strict=True):
            if x.requires_grad or str(x.id) in self._trace.keys:  # the body may ask it of an input
                self._adapter.want_grad(tensor)
        try:
            results = self._static(list(tensors))
        except Exception as error:
            cause = self._stopped[0] if self._stopped else error
            op = _eager_alone(cause.failure) if isinstance(cause, TraceRefused) else None
            raise cause if op is None else NotTraced(f"Paddle's static graphs have no {op}") from None
        results = list(results) if isinstance(results, (list, tuple)) else [results]
        return results, self._backward(tensors, results) if self._trace.keys else {}

    def _backward(self, tensors: Sequence[Any], results: Sequence[Any]) -> dict[str, Any]:
        """The gradients of the leaves, by key."""
        adapter, program = self._adapter, self._trace.program
        given = dict(zip(self._trace.returned, results, strict=True))
        starts = {
            id_: array for id_, array in program.cotangents.items() if id_ in given and adapter.describe(given[id_])[3]
        }
        if starts:
            adapter.backward([given[id_] for id_ in starts], list(starts.values()))
        inputs = {str(x.id): tensor for x, tensor in zip(program.inputs, tensors, strict=True)}
        return {
            key: adapter.gradient(inputs[key] if key in inputs else leaf(self._trace.replay, key))
            for key in self._trace.keys
        }


__all__ = ["static_graph"]
