"""Calls as expressions, which mean what was called."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional as F  # noqa: N812 - as people call it

from autotest.commands.tracing.expressions import UnspelledError, spelled
from autotest.expressions import parse
from dual_object.adapters.torch.traced import Calls

X = torch.arange(-3.0, 3.0).reshape(2, 3)
WANTING = X.clone().requires_grad_()
ROWS = torch.tensor([0, 4])
USUAL = "(low=-3, high=2, requires_grad=False)"


def told(call: Callable[[], Any]) -> str:
    """The expression of its last call."""
    with Calls() as calls:
        call()
    return spelled(json.loads(json.dumps(calls.seen()))[-1])


@pytest.mark.parametrize(
    ("call", "expression"),
    [
        (lambda: torch.softmax(WANTING, -1), "torch.softmax(x[2, 3](low=-3, high=2), -1)"),
        (lambda: F.gelu(X, approximate="tanh"), f"F.gelu(x[2, 3]{USUAL}, approximate='tanh')"),
        (lambda: torch.linalg.vector_norm(X, 2.0), f"torch.linalg.vector_norm(x[2, 3]{USUAL}, 2.0)"),
        (lambda: F.embedding(ROWS, WANTING[:1].detach().expand(5, 3)), None),
        (lambda: X.t().exp(), None),
        (lambda: X.to(torch.float64), f"x[2, 3]{USUAL}.to(torch.float64)"),
        (lambda: X[0, ..., 1:], f"x[2, 3]{USUAL}[0, ..., 1:]"),
        (lambda: X[:, ::2], f"x[2, 3]{USUAL}[:, ::2]"),
        (lambda: X[ROWS // 4], None),
        (lambda: 1 - X, f"1 - x[2, 3]{USUAL}"),
        (lambda: X == X, f"x[2, 3]{USUAL} == x"),
        (lambda: -X, f"x[2, 3]{USUAL}.neg()"),
        (lambda: X.T, f"x[2, 3]{USUAL}.T"),
        (lambda: torch.cat([X, X], dim=1), f"torch.cat([x[2, 3]{USUAL}, x], dim=1)"),
        (lambda: torch.zeros(2, device=torch.device("cpu")), "torch.zeros(2)"),
        (lambda: torch.einsum("ij->ji", X), f"torch.einsum('ij->ji', x[2, 3]{USUAL})"),
        (lambda: torch.sum(ROWS), "torch.sum(x[2](low=0, high=5, dtype=int64))"),
        (lambda: torch.sum(X, (0,)), f"torch.sum(x[2, 3]{USUAL}, (0,))"),
        (lambda: torch.neg(torch.zeros(())), "torch.neg(x[()](low=0, high=1, requires_grad=False))"),
        (lambda: torch.neg(torch.full((2,), 123.456)), "torch.neg(x[2](low=120, high=130, requires_grad=False))"),
        (
            lambda: torch.neg(torch.tensor([-1.7e308, 1.7976931348623157e308], dtype=torch.float64)),
            "torch.neg(x[2](low=-1.7e+308, high=1.79769e+308, dtype=float64, requires_grad=False))",
        ),
        (
            lambda: torch.neg(torch.tensor([-5e-324, 5e-324], dtype=torch.float64)),
            "torch.neg(x[2](low=0, high=1, dtype=float64, requires_grad=False))",
        ),
        (
            lambda: torch.neg(torch.full((2,), -0.0123456)),
            "torch.neg(x[2](low=-0.013, high=-0.012, requires_grad=False))",
        ),
        (lambda: torch.neg(torch.ones(2, dtype=torch.bfloat16)), None),
        (lambda: torch.logical_not(torch.tensor([True])), "torch.logical_not(x[1](dtype=bool))"),
    ],
)
def test_expression(call: Callable[[], Any], expression: str | None) -> None:
    """It is read by the grammar of `autotest check`; and is the one that a person would have typed."""
    if expression is None:
        with Calls() as calls:
            call()
        assert [parse(spelled(one)) for one in json.loads(json.dumps(calls.seen()))]
    else:
        assert told(call) == expression


@pytest.mark.parametrize(
    "made",
    [
        torch.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1),
        torch.arange(6.0).reshape(2, 3).t(),
        torch.arange(3.0).expand(2, 3),
        torch.arange(24.0).reshape(2, 3, 4, 1).permute(0, 3, 2, 1),
        torch.ones(2, 3, 4, 5).contiguous(memory_format=torch.channels_last),
    ],
)
def test_strides(made: torch.Tensor) -> None:
    """What lies otherwise in memory is made by a call that lays it so."""
    expression = told(lambda: torch.exp(made))
    packed = expression.removeprefix("torch.exp(x[").removesuffix(")")
    sizes, _, behind = packed.partition("]")
    again = torch.ones([int(size) for size in sizes.split(",")])
    for call in behind.partition(")")[2].strip(".").split(")."):
        name, _, numbers = call.strip(")").partition("(")
        again = getattr(again, name)(*(int(number) for number in numbers.split(",")))
    assert (again.shape, again.stride()) == (made.shape, made.stride())


def test_strides_that_no_call_makes() -> None:
    """A tensor with gaps is drawn as if it had none."""
    assert told(lambda: torch.exp(torch.zeros(4, 4)[:, :2])) == "torch.exp(x[4, 2](low=0, high=1, requires_grad=False))"


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: torch.neg(torch.ones(1, 1, 1, 1, 1, 1)), "6 sizes are given, but should be at most 5"),
        (lambda: torch.rand(2, generator=torch.Generator()), "an argument is a Generator"),
        (lambda: torch.neg(torch.ones(2).to_sparse()), None),
        (lambda: X.clone().__setitem__(0, 1.0), "this operator has no expression"),
    ],
)
def test_what_is_no_expression(call: Callable[[], Any], why: str | None) -> None:
    """It says why."""
    with Calls() as calls:
        call()
    with pytest.raises(UnspelledError) as raised:
        spelled(json.loads(json.dumps(calls.seen()))[-1])
    assert why is None or str(raised.value) == why
