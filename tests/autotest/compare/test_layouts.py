"""Layouts: a result may lie as PyTorch's does for these inputs, or for contiguous ones, and in no third way."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from autotest import torch
from autotest.compare.difference import Rules
from autotest.compare.layouts import eager_differences
from dual_object.adapters.torch.adapter import Adapter
from dual_object.program.program import Program
from dual_object.record.recording import Recording, current_recording
from dual_object.replay.observation import Observation
from generators import Nothing


def recorded(reference: Adapter, body: Callable[[Any], Any], strides: tuple[int, ...]) -> tuple[Program, Observation]:
    """A body's Program of one (2, 3) input of these strides, and what the reference shows."""
    recording = Recording(reference, draw_state=lambda name, data: data, omitted=Nothing)
    token = current_recording.set(recording)
    try:
        data = np.arange(6, dtype=np.float32).reshape(2, 3)
        returned = body(recording.input(data, "float32", requires_grad=True, strides=strides))
    finally:
        current_recording.reset(token)
    program = recording.program
    program.outputs = recording.returned(returned)
    program.cotangents = {id_: np.ones((2, 3), np.float32) for id_ in recording.differentiable()}
    seen = recording.finish()
    recording.release()
    return program, seen


def told(
    reference: Adapter, strides: tuple[int, ...] | None, body: Callable[[Any], Any] = lambda x: torch.exp(x)
) -> list[str]:
    """What is said of a target whose output and gradient lie with `strides`, for a transposed input."""
    program, expected = recorded(reference, body, (1, 2))
    actual = copy.deepcopy(expected)
    for seen in filter(None, (*actual.outputs.values(), *actual.gradients.values())):
        seen.strides = strides
    found = eager_differences(reference, program, expected, actual, Rules())
    return [f"{difference.kind}: {difference.message}" for difference in found]


def test_a_result_may_lie_as_for_contiguous_inputs(reference: Adapter) -> None:
    """PyTorch keeps the input's order of memory; a target may give contiguous results, gradients too."""
    assert told(reference, (1, 2)) == []
    assert told(reference, None) == []


def test_a_third_way_is_a_difference(reference: Adapter) -> None:
    """What lies as PyTorch's does for neither is told, against what it is for these inputs."""
    words = "has strides (8, 2), but should have (1, 2)"
    assert told(reference, (8, 2)) == [f"layout: t0 {words}", f"layout: gradient of x {words}"]


def test_what_lies_so_for_all_inputs_is_promised(reference: Adapter) -> None:
    """A result that is contiguous for every input has to be."""
    strided = told(reference, (1, 2), lambda x: torch.exp(x).contiguous())
    assert strided == ["layout: t1 has strides (1, 2), but should have (3, 1)"]


def test_other_differences_stay(reference: Adapter) -> None:
    """A wrong value is told beside a lawful layout."""
    program, expected = recorded(reference, lambda x: torch.exp(x), (1, 2))
    actual = copy.deepcopy(expected)
    for seen in actual.outputs.values():
        seen.strides, seen.data = None, seen.data + 1
    found = eager_differences(reference, program, expected, actual, Rules())
    assert [difference.kind for difference in found] == ["value"]


def test_copies_lie_as_what_they_copy(reference: Adapter) -> None:
    """PyTorch documents where a copy of an input lies. Where what is copied is a result, a contiguous one is lawful; so
    is a gradient.
    """
    words = ["layout: t0 has strides (3, 1), but should have (1, 2)"]
    assert told(reference, None, lambda x: x.clone()) == words
    assert told(reference, None, lambda x: torch.zeros_like(x)) == words
    assert told(reference, None, lambda x: x.double()) == words
    assert told(reference, None, lambda x: x.clone(memory_format=torch.preserve_format)) == words
    assert told(reference, None, lambda x: torch.exp(x).clone()) == []


def test_what_is_copied_with_gaps_has_no_order_to_keep(reference: Adapter) -> None:
    """The copy of a slice is promised no strides of its own."""
    program, expected = recorded(reference, lambda x: x.clone(), (1, 4))
    actual = copy.deepcopy(expected)
    for seen in actual.outputs.values():
        assert seen.strides == (1, 2)
        seen.strides = None
    assert eager_differences(reference, program, expected, actual, Rules()) == []
