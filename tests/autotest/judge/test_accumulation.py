"""Tolerated errors that add up are rounding, and nothing else is; the target answers in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from autotest.cases.case import Case
from autotest.judge.judge import Judge
from autotest.judge.judgement import Judgement
from autotest.options import TestOptions
from dual_object.adapters.torch.adapter import Adapter
from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.values import Ref
from dual_object.replay.observation import Observation
from dual_object.replay.replay import Replay
from support.pretended import Pretended, same

#: Within the tolerance of a zero, which is 1e-05.
LITTLE = 5e-6


def sines() -> Program:
    """The sum of the sines of a thousand zeros, which is 0."""
    x = Input(0, "", np.zeros(1000, np.float32), "float32")
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


def judged(eager: Callable[[Program], Observation], program: Program) -> Judgement:
    """What comes of a Program on a target that shows this."""
    reference, target = Adapter(), Pretended(lambda seen, asked: eager(asked), same)
    judge = Judge(reference, target, TestOptions(n=1, check_graph=False))
    judgement = Judgement(Case(0, "test#0", program, Replay(reference, program, side="reference").run()), 0.0)
    judge.judge([judgement], target.eager([program]))
    return judgement


def little_sin(x: torch.Tensor) -> torch.Tensor:
    """A sine that is wrong by as much as the tolerance allows."""
    return torch.sin(x) + LITTLE


def test_tolerated_errors_add_up() -> None:
    """No call is wrong of what it is given: the case is in doubt, not divergent."""
    judgement = judged(lambda asked: Replay(Faulty(sin=little_sin), asked).run(), sines())
    assert judgement.divergences == []
    assert [(doubt.op, doubt.phase, doubt.reason) for doubt in judgement.doubts] == [
        ("program", "eager_forward", "rounding")
    ]


def wrong_after_another(asked: Program) -> Observation:
    """A sum that is wrong of what a call has made."""
    fault = Faulty(sum=lambda x: torch.sum(x) + 1) if len(asked.calls) > 1 else Adapter()
    return Replay(fault, asked).run()


def right_when_watched(asked: Program) -> Observation:
    """A sum that is wrong unless what it adds is returned, too."""
    fault = Adapter() if type(asked.outputs) is tuple or len(asked.calls) == 1 else Faulty(sum=wrong_sum)
    return Replay(fault, asked).run()


def wrong_sum(x: torch.Tensor) -> torch.Tensor:
    """A sum that is wrong."""
    return torch.sum(x) + 1


def refusing_to_be_watched(asked: Program) -> Observation:
    """One that raises where all of its values are returned."""
    return Observation(ended=True) if type(asked.outputs) is tuple else wrong_after_another(asked)


def of_another_dtype(asked: Program) -> Observation:
    """A sine whose little error comes of another dtype."""
    return Replay(Faulty(sin=lambda x: little_sin(x).double()), asked).run()


@pytest.mark.parametrize("fault", [wrong_after_another, right_when_watched, refusing_to_be_watched])
def test_what_no_tolerance_allows_stands(fault: Callable[[Program], Observation]) -> None:
    """No call shows it alone, and yet one is wrong."""
    judgement = judged(fault, sines())
    assert [(one.op, one.difference.kind) for one in judgement.divergences] == [("program", "value")]
    assert judgement.doubts == []


def test_another_dtype_is_no_rounding() -> None:
    """It is told, with what comes of it."""
    assert [one.difference.kind for one in judged(of_another_dtype, sines()).divergences] == ["dtype"]


def test_what_is_written_in_place_is_not_asked() -> None:
    """The reference could not go on from the target's values, for the memory of one is that of another."""
    program = sines()
    calls = [Call("method", "clone", (Ref(0),), {}, out=Ref(3)), Call("method", "sin_", (Ref(3),), {}, out=Ref(3))]
    program.calls[:1] = calls
    program.calls[2] = Call("function", "sum", (Ref(3),), {}, out=Ref(2))

    def eager(asked: Program) -> Observation:
        seen = Replay(Adapter(), asked).run()
        if len(asked.calls) == 3:
            seen.outputs[2].data = seen.outputs[2].data + np.float32(1)
        return seen

    assert [one.op for one in judged(eager, program).divergences] == ["program"]
