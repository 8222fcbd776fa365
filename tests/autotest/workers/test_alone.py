"""One Program on a target by itself: what a graph is asked for, and what comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from autotest.workers.alone import GraphResult, run_alone, run_graph_alone
from autotest.workers.protocol import Death, GraphFailure
from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.values import Ref
from dual_object.replay.adapter import GraphRefusal, TargetInfo
from dual_object.replay.observation import Observation, Seen

DIED = Death("crash", "died", 0, None, "")


class Answering:
    """A target that gives one answer, and keeps what it was asked."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[tuple[Any, ...]] = []

    def info(self) -> TargetInfo:
        """It has nothing to say."""
        raise NotImplementedError

    def eager(self, programs: Sequence[Program]) -> list[Any]:
        """The answer, for each Program."""
        return [self.answer for _ in programs]

    def graph(self, programs: Sequence[Program], *asked: Any) -> Any:
        """The answer as it is for a graph that fails as a whole, else in a list."""
        self.asked.append(asked)
        return self.answer if isinstance(self.answer, (Death, GraphFailure)) else [self.answer for _ in programs]


def program(*, cotangents: bool) -> Program:
    """`exp` of one number."""
    x = Input(0, "", np.ones(1, np.float32), "float32", cotangents)
    made = Program([x], [Call("function", "exp", (Ref(0),), {}, out=Ref(1))], Ref(1))
    if cotangents:
        made.cotangents = {1: np.ones(1, np.float32)}
    return made


@pytest.mark.parametrize(
    "answer", [Observation(), DIED, GraphFailure(("RuntimeError",), "no"), GraphRefusal(True, None, (), "none here")]
)
def test_answer(answer: GraphResult) -> None:
    """Whatever comes of the one Program is given as it is."""
    assert run_graph_alone(Answering(answer), program(cotangents=False), ()) is answer
    if isinstance(answer, (Observation, Death)):
        assert run_alone(Answering(answer), program(cotangents=False)) is answer


@pytest.mark.parametrize(
    ("cotangents", "gradients", "asked"), [(True, ["0"], [["0"]]), (True, [], None), (False, ["0"], None)]
)
def test_gradients(cotangents: bool, gradients: list[str], asked: list[list[str]] | None) -> None:
    """A backward is asked for where there is something to start from, and something to reach."""
    target = Answering(Observation())
    run_graph_alone(target, program(cotangents=cotangents), gradients)
    values = [np.zeros(1, np.float32)]
    run_graph_alone(target, program(cotangents=cotangents), gradients, values)
    assert target.asked == [(asked,), (asked, [values])]


def test_gradient_keys() -> None:
    """Leaves without a gradient are none of them."""
    one = Seen("float32", (1,), "cpu", False, np.ones(1, np.float32))
    assert Observation(gradients={"0": None, "1": one, "2.weight": one}).gradient_keys() == ["1", "2.weight"]
