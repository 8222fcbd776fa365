"""Data parallel trainings, without a framework: each rank has its part of every batch, and gradients are averaged.

The reference is one process with the whole batch. There the wrapper of a model changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.values import Array, Ref, map_leaves, refs

#: The path of the wrapper in both frameworks.
WRAPPER = "nn.parallel.DistributedDataParallel"


class Unchanged:
    """What stands for the wrapper where there is one process: it is given what the model computes, and gives it back,
    as tensors of their own.
    """

    def __call__(self, outputs: Any) -> Any:
        """Copies of the outputs, which gradients flow through."""
        return map_leaves(outputs, _copied)


def unchanged(held: Any) -> Unchanged:
    """Stands for the wrapper's construction on the reference."""
    return Unchanged()


def _copied(leaf: Any) -> Any:
    return leaf.clone() if hasattr(leaf, "requires_grad") else leaf


def wraps(call: Call) -> bool:
    """Whether a call wraps a model, so that its gradients are averaged."""
    return call.kind == "function" and call.op == WRAPPER


def wrappers(program: Program) -> set[int]:
    """Numbers of the wrappers that the Program makes; none where it is not data parallel."""
    return {id_ for call in program.calls if wraps(call) for id_ in call.results()}


def part(data: Array, rank: int, ranks: int) -> Array:
    """A rank's part of a batch, along its first dimension, which the ranks must divide."""
    size = data.shape[0] // ranks
    return np.ascontiguousarray(data[rank * size : (rank + 1) * size])


def joined(parts: Sequence[Array]) -> Array:
    """What the ranks' parts of a result are together: their mean where they are scalars, such as losses, else one
    behind the other.
    """
    first = parts[0]
    if first.ndim:
        return np.concatenate(parts)
    return np.mean(parts, axis=0, dtype=np.float64).astype(first.dtype) if first.dtype.kind == "f" else first


def part_of(x: Input, program: Program, rank: int) -> Input:
    """An input as a rank has it: its part of a batch that the ranks share, else the whole."""
    training = program.training
    if training is None or training.ranks == 1 or not any(x.id in step.inputs for step in training.steps):
        return x
    return replace(x, data=part(x.data, rank, training.ranks), strides=None)


def unwrapped(program: Program) -> Program:
    """The Program without wrappers, which computes the same on one process; its calls have other indices."""
    wrapped = wrappers(program)
    if not wrapped:
        return program
    numbers: dict[int, int] = {}

    def own(leaf: Any) -> Any:
        return Ref(numbers.get(leaf.id, leaf.id)) if type(leaf) is Ref else leaf

    calls: list[Call] = []
    for call in program.calls:
        if wraps(call):
            continue
        kwargs = {key: map_leaves(arg, own) for key, arg in call.kwargs.items()}
        call = replace(call, args=map_leaves(call.args, own), kwargs=kwargs)
        if call.kind == "call" and type(call.args[0]) is Ref and call.args[0].id in wrapped:
            numbers.update(zip(call.results(), refs(call.args[1:]), strict=True))
            continue
        calls.append(call)
    return replace(program, calls=calls, outputs=map_leaves(program.outputs, own))


__all__ = ["WRAPPER", "Unchanged", "joined", "part", "part_of", "unchanged", "unwrapped", "wrappers", "wraps"]
