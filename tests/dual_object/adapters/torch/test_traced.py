"""The calls of a program are counted by what they were like."""

from __future__ import annotations

import json
from typing import Any

import torch
from torch import nn

from dual_object.adapters.torch.traced import MOST_FLOATS, Calls


def seen(calls: Calls) -> list[dict[str, Any]]:
    """What was seen, as a file of JSON gives it back."""
    told: list[dict[str, Any]] = json.loads(json.dumps(calls.seen()))
    return told


def test_a_call() -> None:
    """Its name, arguments, tensors and their ranges, once for calls that are alike."""
    with Calls() as calls:
        for low in (-1.0, -3.0):
            torch.softmax(torch.tensor([[low, 2.0]]), -1)
    [one] = seen(calls)
    assert one == {
        "path": "torch.softmax",
        "count": 2,
        "args": ["tuple", [["tensor", 0], ["int", -1]]],
        "kwargs": [],
        "tensors": [[[1, 2], "float32", None, False, [-3.0, 2.0]]],
    }


def test_apart() -> None:
    """Shapes, dtypes, strides, wanted gradients and arguments make other calls; a float makes no more than a few."""
    x = torch.ones(2, 3)
    wanting = torch.ones(2, 3, requires_grad=True)
    with Calls() as calls:
        for each in (x, x.double(), x.t(), wanting, x[0]):
            torch.exp(each)
        with torch.no_grad():
            torch.exp(wanting)
        for number in range(20):
            x.add(0.5 * number)
    counts = [(one["path"], one["count"]) for one in seen(calls) if one["path"] in ("torch.exp", "torch.Tensor.add")]
    assert counts == [
        ("torch.exp", 2),
        *[("torch.exp", 1)] * 4,
        *[("torch.Tensor.add", 1)] * (MOST_FLOATS - 1),
        ("torch.Tensor.add", 20 - MOST_FLOATS + 1),
    ]


def test_no_ops_and_inner_calls() -> None:
    """What asks about a tensor is none, nor is what an op calls within itself, nor a default that is handed on."""
    x = torch.ones(2, 3)
    with Calls() as calls:
        assert (x.dim(), x.size(0), x.shape, x.requires_grad, len(x)) == (2, 2, (2, 3), False, 2)
        x.sum().item()
        nn.functional.cross_entropy(x, torch.tensor([0, 1]))
        _ = x.T
    told = [(one["path"], one["kwargs"]) for one in seen(calls)]
    assert told == [("torch.Tensor.sum", []), ("torch.nn.functional.cross_entropy", []), ("torch.Tensor.T", [])]


def test_values_that_are_looked_at() -> None:
    """NaN and infinities have no range, nor have bools, complex numbers and nothing; what is written is seen before."""
    nan, inf = float("nan"), float("inf")
    with Calls() as calls:
        torch.neg(torch.tensor([nan, 1.0, inf, -2.0]))
        torch.neg(torch.tensor([nan, nan]))
        torch.logical_not(torch.tensor([True]))
        torch.neg(torch.tensor([1j]))
        torch.neg(torch.ones(0))
        torch.tensor([5]).zero_()
    assert [one["tensors"][0][4] for one in seen(calls) if one["tensors"]] == [
        [-2.0, 1.0],
        None,
        None,
        None,
        None,
        [5, 5],
    ]


def test_one_tensor_twice() -> None:
    """It has one number; others in lists and slices have their own."""
    x, y = torch.ones(2), torch.ones(2)
    with Calls() as calls:
        torch.cat([x, y, x])
        x[None, ..., 0:1]
    first, second = seen(calls)
    assert first["args"] == ["tuple", [["list", [["tensor", 0], ["tensor", 1], ["tensor", 0]]]]]
    none = ["NoneType", None]
    index = [none, ["ellipsis"], ["slice", [["int", 0], ["int", 1], none]]]
    assert second["args"] == ["tuple", [["tensor", 0], ["tuple", index]]]


def test_results_are_those_without() -> None:
    """Nothing of a program changes."""

    def trained() -> float:
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(3, 4), nn.Dropout(), nn.BatchNorm1d(4), nn.LSTM(4, 2))
        step = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            step.zero_grad()
            loss = net(torch.randn(5, 3))[0].square().sum()
            loss.backward()
            step.step()
        return loss.item()

    with Calls():
        traced = trained()
    assert traced == trained()
