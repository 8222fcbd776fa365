"""Graphs of single calls: OneFlow's own harness runs each call in a graph of its own, this one whole programs."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from autotest.workers.alone import run_graph_alone
from autotest.workers.protocol import Death, Target
from dual_object.program.calls import Call
from dual_object.program.global_layouts import distributed
from dual_object.program.program import Program
from dual_object.program.values import Device, Name, Ref
from dual_object.replay.adapter import Adapter, GraphRefusal
from dual_object.replay.isolation import isolate
from dual_object.replay.observation import Observation

#: Functions that it runs eagerly alone, by the names that OneFlow's own objects have.
_EAGER = frozenset({"tensor", "train", "Parameter"})


def refused_alone(reference: Adapter, target: Target, program: Program) -> bool:
    """Whether the graph of a single call of `program` is refused; also where no call can stand alone."""
    met = False
    for index, alone, observation in isolate(reference, program):
        met = True
        call = program.calls[index]
        if not builds_graph(call):
            continue
        held, gradients = (_fed(alone, observation)) if call.kind == "call" else (_holding(alone), ())
        result = run_graph_alone(target, held, gradients)
        if isinstance(result, Death):
            # OneFlow's process may end of a graph that holds constants after two that it refused: a new one tells.
            result = run_graph_alone(target, held, gradients)
        if not (isinstance(result, Observation) or (isinstance(result, GraphRefusal) and result.skipped)):
            return True
    return not met


def builds_graph(call: Call) -> bool:
    """Whether OneFlow's harness builds a graph of a call at all.

    It goes by the module that an object of OneFlow's names as its own. A tensor's method that is written in C++ names
    none, and has no graph; nor has a tensor that goes to a device.
    """
    flow = sys.modules["oneflow"]
    if call.kind in ("method", "function") and call.op == "to":
        return not any(type(arg) in (str, Device) for arg in (*call.args[1:], *call.kwargs.values()))
    if call.kind == "method":
        method = getattr(flow.Tensor, call.op, None)
        return method is None or inspect.isfunction(method)
    if call.kind != "function":
        return True
    function: Any = flow
    for part in call.op.split("."):
        function = getattr(function, part, None)
    if getattr(function, "__name__", "") in _EAGER:
        return False
    home = getattr(function, "__module__", None)
    return inspect.isfunction(function) or (home is not None and "oneflow.nn.modules" not in home)


def _holding(program: Program) -> Program:
    """The Program with its inputs made before the graph, which then holds them as constants and knows their values, as
    that harness has it. `flow.select` is refused where its input is the graph's own.
    """
    if distributed(program):
        return program
    made = [Call("module", "tensor", (x.data,), {"dtype": Name(x.dtype)}, out=Ref(x.id)) for x in program.inputs]
    return replace(program, inputs=[], calls=[*made, *program.calls])


def _fed(program: Program, observation: Observation) -> tuple[Program, Sequence[str]]:
    """A module's Program, and the gradients that its graph takes: those of its parameters, where it has such itself."""
    keys = [key for key in observation.gradient_keys() if "." in key]
    inputs = [replace(x, requires_grad=False) for x in program.inputs]
    return replace(program, inputs=inputs), keys if any(key.count(".") == 1 for key in keys) else ()


__all__ = ["builds_graph", "refused_alone"]
