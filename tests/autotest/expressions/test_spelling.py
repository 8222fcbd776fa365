"""A Program as the expression that checks it again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autotest import torch
from autotest.expressions import command, parse
from autotest.expressions.spelling import spelled
from dual_object.adapters.torch.adapter import Adapter
from dual_object.program.calls import Call, Input
from dual_object.program.values import Ref
from support.programs import given, one_call, recorded


@pytest.mark.parametrize(
    ("body", "expression"),
    [
        (lambda: torch.relu(given(1.0, float("nan"), float("-inf"))), "torch.relu(tensor([1.0, nan, -inf]))"),
        (lambda: torch.lgamma(given(0.1, grad=True)), "torch.lgamma(tensor([0.1], requires_grad=True))"),
        (lambda: given(1, 2, dtype="int32") + 1, "tensor([1, 2], dtype=int32) + 1"),
        (lambda: torch.sort(given(2, 1, dtype="int64"))[1], "torch.sort(tensor([2, 1]))[1]"),
        (lambda: (lambda x: x * x)(given(3.0)), "(x := tensor([3.0])) * x"),
        (lambda: torch.nn.ReLU().eval()(given(1.0)), "torch.nn.ReLU().eval()(tensor([1.0]))"),
        (lambda: given(1.0).sum().add_(2), "tensor([1.0]).sum().add_(2)"),
        (lambda: torch.sin_(input=given(1.0).sum()), "torch.sin_(input=tensor([1.0]).sum())"),
        (lambda: torch.cat([given(True, dtype="bool")], dim=0), "torch.cat([tensor([True])], dim=0)"),
        (lambda: given(1.0, 2.0)[1:], "tensor([1.0, 2.0])[1:]"),
        (lambda: torch.einsum("i->", given(1.0)), 'torch.einsum("i->", tensor([1.0]))'),
    ],
)  # fmt: skip
def test_one_expression(reference: Adapter, body: Callable[[], Any], expression: str) -> None:
    """Calls stand where their values are used, and it can be read again."""
    program, _ = recorded(reference, body)
    assert spelled(program) == expression
    assert parse(expression).pinned


def twice() -> Any:
    """A value that is used twice."""
    t = torch.relu(given(1.0))
    return t * t


def unused() -> Any:
    """A call whose value is not used."""
    x = given(1.0)
    torch.relu(x)
    return x + 1


def written() -> Any:
    """An input that is written first."""
    x = given(1.0)
    x[0] = 2
    return x + 1


def region() -> Any:
    """One with a region."""
    with torch.no_grad():
        return torch.relu(given(1.0))


@pytest.mark.parametrize(
    "body", [twice, unused, written, region, lambda: torch.relu(given(*range(24), dtype="float32"))]
)
def test_several_steps(reference: Adapter, body: Callable[[], Any]) -> None:
    """What is no single expression, or too long for a shell, has none."""
    assert command(recorded(reference, body)[0]) is None


def test_layouts_have_no_expression() -> None:
    """An input is told by its values alone."""
    assert spelled(one_call(values=[[1.0, 2.0], [3.0, 4.0]])) == "torch.relu(tensor([[1.0, 2.0], [3.0, 4.0]]))"
    assert spelled(one_call(values=[[1.0, 2.0], [3.0, 4.0]], strides=(1, 2))) is None
    assert spelled(one_call(offset=2)) is None
    assert spelled(one_call(values=np.zeros((0, 3)))) is None
    beside = one_call(values=[1.0])
    beside.inputs = [*beside.inputs, Input(2, "", np.ones(1, np.float32), "float32")]
    assert spelled(beside) is None, "an input that nothing uses would not be drawn"
    assert spelled(one_call(values=np.zeros(0))) == "torch.relu(tensor([]))"


def test_command() -> None:
    """As a shell takes it; parameters cannot be given, which it says."""
    program = one_call(values=[1.0])
    assert command(program) == "autotest check 'torch.relu(tensor([1.0]))'"
    program.calls = [
        Call("module", "nn.PReLU", (), {}, out=Ref(2), state={"weight": np.ones(1, np.float32)}),
        Call("call", "PReLU", (Ref(2), Ref(0)), {}, out=Ref(1)),
    ]
    program.inputs = [Input(0, "", np.ones(1, np.float32), "float32")]
    assert command(program) == "autotest check 'torch.nn.PReLU()(tensor([1.0]))'  # its parameters are drawn anew"
