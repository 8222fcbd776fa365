"""Layouts that PyTorch leaves open: where an input is not contiguous, a result may lie as it does for a contiguous one.

PyTorch's elementwise ops keep the order of memory that their inputs have; that is a matter of speed, and what it
promises are values. A framework that makes its inputs contiguous first is as right. Copies are different: PyTorch
documents that they lie as what they copy does (`torch.preserve_format`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from autotest.compare.difference import Difference, Names, Rules
from autotest.compare.evidence.evidence import part_of
from autotest.compare.observations import compare
from dual_object.program.calls import op_name
from dual_object.program.program import Program
from dual_object.program.strides import dense
from dual_object.program.values import Ref
from dual_object.replay.adapter import Adapter
from dual_object.replay.observation import Observation
from dual_object.replay.replay import QuietReplay

#: Ops whose `memory_format` is documented to be `torch.preserve_format` by default: their result lies as their first
#: argument does, where that has neither gaps nor overlaps.
#: https://docs.pytorch.org/docs/stable/generated/torch.clone.html
PRESERVING = frozenset(
    {
        *("clone", "empty_like", "full_like", "ones_like", "rand_like", "randint_like", "randn_like", "zeros_like"),
        *("bfloat16", "bool", "byte", "char", "double", "float", "half", "int", "long", "short", "to"),
    }
)


def eager_differences(
    reference: Adapter,
    program: Program,
    expected: Observation,
    actual: Observation,
    rules: Rules,
    *,
    names: Names | None = None,
) -> list[Difference]:
    """As `compare`, without the layouts that PyTorch leaves open: where a result lies as PyTorch's own does once every
    input is contiguous, that is no difference.
    """
    differences = compare(program, expected, actual, rules, names=names)
    if all(d.kind != "layout" for d in differences):
        return differences
    return _without_free_layouts(reference, program, differences)


def _without_free_layouts(reference: Adapter, program: Program, differences: Sequence[Difference]) -> list[Difference]:
    if not program.cotangent_strides and all(x.strides is None and not x.offset for x in program.inputs):
        return list(differences)
    inputs = [replace(x, strides=None, offset=0) for x in program.inputs]
    packed = replace(program, inputs=inputs, cotangent_strides={})
    observation = QuietReplay(reference, packed, side="reference").run()
    promised = _preserved(program)
    return [
        d
        for d in differences
        if d.kind != "layout" or (d.part == "output" and d.key in promised) or not _lies_so(observation, d)
    ]


def _preserved(program: Program) -> set[str]:
    """The results that are promised to lie as an input does. Where an argument is itself a result, its own layout may
    be a free one.
    """
    inputs = {x.id for x in program.inputs if dense(x.data.shape, x.strides)}
    return {
        str(id_)
        for call in program.op_calls()
        if op_name(call) in PRESERVING and call.args and isinstance(call.args[0], Ref) and call.args[0].id in inputs
        for id_ in call.results()
    }


def _lies_so(observation: Observation, difference: Difference) -> bool:
    """Whether what differs lies in `seen` as it does on the target."""
    tensor, actual = part_of(observation, difference.part, difference.key), difference.actual
    if tensor is None or actual is None:
        return False
    return (tensor.strides, tensor.offset) == (actual.strides, actual.offset)
