"""The parts of Sequentials are called one by one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import pytest

from autotest import torch
from autotest.conformance.bodies import assert_same
from dual_object.adapters.torch.adapter import Adapter
from dual_object.program.unrolled import unrolled
from dual_object.replay.replay import Replay
from support.programs import given, recorded


def nested() -> Any:
    """A Sequential in another one, and one by names."""
    inner = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    outer = torch.nn.Sequential(inner, torch.nn.ReLU())
    named = torch.nn.Sequential(OrderedDict(last=torch.nn.Linear(2, 1)))
    outer.eval()
    return torch.sum(named(outer(given([1.0, -2.0], [0.5, 3.0], grad=True))))


def twice() -> Any:
    """One module in two places."""
    module = torch.nn.Linear(2, 2)
    return torch.nn.Sequential(module, torch.nn.Tanh(), module)(given([1.0, -2.0]))


@pytest.mark.parametrize(
    ("body", "ops"),
    [
        (nested, ["Linear", "BatchNorm1d", "ReLU", "Linear", "sum"]),
        (twice, ["Linear", "Tanh", "Linear"]),
    ],
)
def test_parts_are_called_in_order(body: Callable[[], Any], ops: list[str]) -> None:
    """What is called is what the Sequentials call, and gives the same, gradients included."""
    reference = Adapter()
    program, seen = recorded(reference, body)
    parts = unrolled(program)
    assert parts is not None
    assert [call.op for call in parts.calls if call.kind in ("call", "function")] == ops
    shown = Replay(reference, parts, side="reference").run()
    assert_same(seen, shown)


@pytest.mark.parametrize(
    "body",
    [
        lambda: torch.nn.Linear(1, 1)(given([1.0])),
        lambda: torch.relu(given(1.0)),
        lambda: torch.nn.Sequential()(given(1.0)),
        lambda: (torch.nn.Sequential(torch.nn.ReLU()), given(1.0))[1],
    ],
)
def test_no_sequential_is_called(body: Callable[[], Any]) -> None:
    """There is nothing to take apart."""
    program, _ = recorded(Adapter(), body)
    assert unrolled(program) is None
