"""Samples and refused inputs are those of PyTorch's own table."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
import torch

from dual_object.adapters.torch.kernels.given import error_inputs, sample_inputs, seeded
from dual_object.adapters.torch.kernels.samples.table import named


def shown(samples: Iterable[Any]) -> list[str]:
    """Each sample in words, its values included."""
    return [repr((sample.input, sample.args, sorted(sample.kwargs.items()))) for sample in samples]


@pytest.mark.parametrize("path", ["add", "softmax", "nn.functional.conv2d", "cat"])
@pytest.mark.parametrize("differentiable", [False, True])
def test_samples_are_the_tables(path: str, differentiable: bool) -> None:
    """With the values that the table itself gives from these random numbers."""
    info = named(path)
    with seeded():
        own = shown(info.sample_inputs("cpu", torch.float32, requires_grad=differentiable, set_seed=False))
    with seeded():
        found = [*sample_inputs(info, torch.float32, differentiable=differentiable)]
    assert shown(found) == own
    assert found


@pytest.mark.parametrize("path", ["index_select", "narrow"])
def test_refused_inputs_are_the_tables(path: str) -> None:
    """Whatever has been drawn before, the same each time; and afterwards random numbers go on as they stood."""
    info = named(path)
    with seeded():
        own = [(error.error_type, shown([error.sample_input])) for error in info.error_inputs("cpu")]
    torch.rand(3)
    states = torch.random.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist()  # type: ignore[index,union-attr]
    found = [(error.error_type, shown([error.sample_input])) for error in error_inputs(info)]
    assert found == own
    assert found
    assert torch.equal(torch.random.get_rng_state(), states[0])
    assert (random.getstate(), np.random.get_state()[1].tolist()) == states[1:]  # type: ignore[index,union-attr]


def test_an_op_that_refuses_nothing() -> None:
    """PyTorch's tests have no such inputs for it."""
    assert [*error_inputs(named("relu"))] == []
