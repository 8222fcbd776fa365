"""What is wrong of numbers that lie close together, and of no others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from autotest.judge.facts.closeness import lies_close, spread
from dual_object.adapters.torch.adapter import Adapter
from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.values import Ref
from support.facts import Fault, Faulty, facts

VAR = torch.var
#: Two close numbers in a column whose others lie apart; close ones of both signs; two that are alike.
COLUMN = [[0.3, 0.9, 0.1], [0.9, 0.901, 0.7]]
ROW = [[0.31, 0.312, 0.311], [-0.9, -0.4, -0.1]]
ALIKE = [[0.31, 0.31, 0.31], [0.9, 0.4, 0.1]]


def one_pass(x: Any, dim: int) -> Any:
    """A variance that cancels."""
    square = (x * x).mean(dim) - x.mean(dim) ** 2
    return square * x.shape[dim] / (x.shape[dim] - 1)


def of(values: Any, *args: Any, op: str = "var") -> Program:
    """A call of the numbers."""
    x = Input(0, "x", np.array(values, np.float32), "float32")
    return Program([x], [Call("function", op, (Ref(0), *args), {}, out=Ref(1))], Ref(1))


@pytest.mark.parametrize(
    ("values", "close"),
    [
        (COLUMN, True),
        (ROW, True),
        ([0.9, 0.91, 0.92], True),
        ([[[0.9, 0.1], [-0.3, -0.31]], [[0.2, 0.6], [-0.29, -0.3]]], True),  # each number of the second row: a channel
        ([0.9, 0.1, 0.92], False),
        ([0.0, 0.0, 0.0], False),
        ([[0.9], [0.1]], False),
        (0.9, False),
        ([], False),
        ([[], []], False),
        ([0.9, np.nan, 0.91], False),
    ],
)
def test_lies_close(values: Any, close: bool) -> None:
    """Numbers along a dimension, all, or those of a channel, that deviate by less than an eighth of their size."""
    assert lies_close(Input(0, "x", np.array(values, np.float32), "float32")) == close


def test_integers_do_not_lie_close() -> None:
    """Their variance is not asked for."""
    assert not lies_close(Input(0, "x", np.array([99, 100]), "int64"))


@pytest.mark.parametrize("values", [COLUMN, ROW, [-0.9, -0.91, -0.92], [0.9, 0.91, 0.92]])
def test_spread(values: Any) -> None:
    """The numbers lie apart then, within the range that there was; what they share in memory they share."""
    program = of(values, 0)
    told = spread(Adapter(), program)
    assert told is not None
    [before], [after] = program.inputs, told.inputs
    assert not lies_close(after)
    assert len({*after.data.flat}) == after.data.size
    assert np.abs(after.data).max() == np.abs(before.data).max()
    assert bool((after.data < 0).any()) == bool((before.data < 0).any())
    assert bool((after.data > 0).any()) == bool((before.data > 0).any())


def test_spread_keeps_what_shares_memory() -> None:
    """Both rows of an expanded tensor stay one."""
    x = Input(0, "x", np.array([[0.9, 0.91], [0.9, 0.91]], np.float32), "float32", strides=(0, 1))
    told = spread(Adapter(), Program([x], [Call("function", "var", (Ref(0), 1), {}, out=Ref(1))], Ref(1)))
    assert told is not None
    data = told.inputs[0].data
    assert (data[0] == data[1]).all()
    assert abs(data[0, 0] - data[0, 1]) > 0.4


def test_spread_leaves_the_domain() -> None:
    """What the reference has no number for is no experiment."""
    assert spread(Adapter(), of([1.5, 1.51], op="acosh")) is None
    assert spread(Adapter(), of([0.5, 0.51], op="acosh")) is None


@pytest.mark.parametrize(
    ("program", "op", "fault", "expected"),
    [
        (of([100.1, 100.2, 100.3], 0), "var", one_pass, ("close",)),
        (of([[100.1, 100.5], [100.2, 100.3]], 0), "var", one_pass, ("close",)),
        (of([[-100.1, -100.5], [-100.2, -100.3]], 0), "var", one_pass, ("close",)),
        (of([100.1, 100.2, 100.3], 0), "var", lambda x, dim: VAR(x, dim) + 1, ()),
        # Where none can be spread, nobody knows.
        (of([1.5, 1.51], op="acosh"), "acosh", lambda x: x * 0, ()),
        # What needs that numbers are alike is told with that alone.
        (of(ALIKE, 1), "var", lambda x, dim: VAR(x, dim) + bool((x[:, 0] == x[:, 1]).any()), ("tie",)),
    ],
)
def test_what_needs_close_numbers(
    monkeypatch: pytest.MonkeyPatch, program: Program, op: str, fault: Fault, expected: tuple[str, ...]
) -> None:
    """A variance that is wrong by cancellation is another fault than one that is wrong."""
    assert facts(program, Faulty(fault, monkeypatch, torch, op)) == expected


def test_numbers_that_were_spread_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """What shows among numbers far apart whatever the argument is, needs the argument among those that there were."""

    def fault(x: Any, *, unbiased: bool = True) -> Any:
        return VAR(x, unbiased=unbiased) + bool(not unbiased or x.min() < 50)

    x = Input(0, "x", np.array([100.1, 100.2, 100.3], np.float32), "float32")
    program = Program([x], [Call("function", "var", (Ref(0),), {"unbiased": False}, out=Ref(1))], Ref(1))
    assert facts(program, Faulty(fault, monkeypatch, torch, "var")) == ("unbiased=",)


def test_close_numbers_do_not_hide_an_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrong of close numbers by cancellation, and of all others with an argument, needs the argument there."""

    def fault(x: Any, dim: int = 0, *, unbiased: bool = True) -> Any:
        return one_pass(x, dim) + bool(not unbiased)

    x = Input(0, "x", np.array([100.1, 100.2, 100.3], np.float32), "float32")
    program = Program([x], [Call("function", "var", (Ref(0), 0), {"unbiased": False}, out=Ref(1))], Ref(1))
    assert facts(program, Faulty(fault, monkeypatch, torch, "var")) == ("unbiased=",)
