"""Tolerated errors that add up are rounding, and nothing else is; the target answers in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from autotest.judge.judgement import Judgement
from dual_object.adapters.torch.adapter import Adapter
from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.values import Ref
from dual_object.replay.observation import Observation
from dual_object.replay.replay import Replay
from support.pretended import Pretended, judged, same

#: Within the tolerance of a zero, which is 1e-05.
LITTLE = 5e-6


def sines(*, requires_grad: bool = False) -> Program:
    """The sum of the sines of a thousand zeros, which is 0."""
    x = Input(0, "", np.zeros(1000, np.float32), "float32", requires_grad)
    calls = [Call("function", "sin", (Ref(0),), {}, out=Ref(1)), Call("function", "sum", (Ref(1),), {}, out=Ref(2))]
    return Program([x], calls, Ref(2))


class Faulty(Adapter):
    """PyTorch with functions of its own."""

    def __init__(self, **functions: Callable[..., Any]) -> None:
        super().__init__()
        self._functions = functions

    def resolve(self, path: str) -> Any:
        """A function of its own, else PyTorch's."""
        return self._functions.get(path) or super().resolve(path)


def judged_of(eager: Callable[[Program], Observation], program: Program) -> Judgement:
    """What comes of a Program on a target that shows this."""
    [judgement] = judged(Pretended(lambda seen, asked: eager(asked), same), program, check_graph=False)
    return judgement


def little_sin(x: torch.Tensor) -> torch.Tensor:
    """A sine that is wrong by as much as the tolerance allows."""
    return torch.sin(x) + LITTLE


@pytest.mark.parametrize("requires_grad", [False, True])
def test_tolerated_errors_add_up(requires_grad: bool) -> None:
    """No call is wrong of what it is given: the case is in doubt, not divergent."""
    program = sines(requires_grad=requires_grad)
    judgement = judged_of(lambda asked: Replay(Faulty(sin=little_sin), asked).run(), program)
    assert judgement.divergences == []
    assert [(doubt.op, doubt.phase, doubt.reason) for doubt in judgement.doubts] == [
        ("program", "eager_forward", "rounding")
    ]


def test_a_module_in_another_mode_is_not_written_to() -> None:
    """It gives itself: what it is made of may add up as of any other call."""
    program = sines()
    sine, total = program.calls
    calls = [
        sine,
        Call("module", "nn.Flatten", (0,), {}, out=Ref(2)),
        Call("method", "eval", (Ref(2),), {}, out=Ref(2)),
        Call("call", "Flatten", (Ref(2), Ref(1)), {}, out=Ref(3)),
        Call("function", total.op, (Ref(3),), {}, out=Ref(4)),
    ]
    asked = Program(program.inputs, calls, Ref(4))
    judgement = judged_of(lambda asked: Replay(Faulty(sin=little_sin), asked).run(), asked)
    assert judgement.divergences == []
    assert [doubt.reason for doubt in judgement.doubts] == ["rounding"]


def wrong_after_another(asked: Program) -> Observation:
    """A sum that is wrong of what a call has made."""
    fault = Faulty(sum=lambda x: torch.sum(x) + 1) if len(asked.calls) > 1 else Adapter()
    return Replay(fault, asked).run()


def right_when_watched(asked: Program) -> Observation:
    """A sum that is wrong unless what it adds is returned, too."""
    fault = Adapter() if asked.watched or len(asked.calls) == 1 else Faulty(sum=wrong_sum)
    return Replay(fault, asked).run()


def wrong_sum(x: torch.Tensor) -> torch.Tensor:
    """A sum that is wrong."""
    return torch.sum(x) + 1


def refusing_to_be_watched(asked: Program) -> Observation:
    """One that raises where all of its values are returned."""
    return Observation(ended=True) if asked.watched else wrong_after_another(asked)


def of_another_dtype(asked: Program) -> Observation:
    """A sine whose little error comes of another dtype."""
    return Replay(Faulty(sin=lambda x: little_sin(x).double()), asked).run()


def of_another_dtype_between(asked: Program) -> Observation:
    """A sine whose little error comes of another dtype, which its sum has no more."""
    fault = Faulty(sin=lambda x: little_sin(x).half(), sum=lambda x: torch.sum(x.float()))
    return Replay(fault if len(asked.calls) > 1 else Adapter(), asked).run()


@pytest.mark.parametrize(
    "fault",
    [wrong_after_another, right_when_watched, refusing_to_be_watched, of_another_dtype_between],
)
def test_what_no_tolerance_allows_stands(fault: Callable[[Program], Observation]) -> None:
    """No call shows it alone, and yet one is wrong."""
    judgement = judged_of(fault, sines())
    assert [(one.op, one.difference.kind) for one in judgement.divergences] == [("program", "value")]
    assert judgement.doubts == []


def test_another_dtype_is_no_rounding() -> None:
    """It is told, with what comes of it."""
    assert [one.difference.kind for one in judged_of(of_another_dtype, sines()).divergences] == ["dtype"]


def test_what_is_written_in_place_is_not_asked() -> None:
    """A view that is a copy is what it should be of what it was made of, and nobody would see that this has changed."""
    x = Input(0, "", np.ones(4, np.float32), "float32")
    calls = [
        Call("function", "narrow", (Ref(0), 0, 0, 4), {}, out=Ref(1)),
        Call("method", "zero_", (Ref(0),), {}, out=Ref(0)),
        Call("function", "sum", (Ref(1),), {}, out=Ref(2)),
    ]

    def eager(asked: Program) -> Observation:
        copying = Faulty(narrow=lambda x, *place: torch.narrow(x, *place).clone())
        return Replay(copying if len(asked.calls) > 2 else Adapter(), asked).run()

    judgement = judged_of(eager, Program([x], calls, Ref(2)))
    assert [(one.op, one.difference.kind) for one in judgement.divergences] == [("program", "value")]
