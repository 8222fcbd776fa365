"""The call that a target's death is blamed on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch as pytorch

from autotest import torch
from autotest.compare.difference import Difference, Rules
from autotest.compare.divergence import Divergence
from autotest.compare.evidence.evidence import Sides
from autotest.compare.layouts import eager_differences
from autotest.judge.blame.localization import like, localize, localize_death, of_death
from autotest.workers.protocol import Cause, Death
from dual_object.adapters.torch.adapter import Adapter
from dual_object.program.program import Program
from dual_object.program.shortened import first_forward
from dual_object.program.unrolled import unrolled
from dual_object.record.recording import Recording
from dual_object.replay.observation import Observation
from dual_object.replay.replay import Replay
from support import trainings
from support.programs import given, recorded


class Mortal:
    """A target that some ops end, in the forward or in the backward, or in graphs alone."""

    def __init__(self, deadly: Sequence[str], death: Death, *, graphs: bool = False) -> None:
        self._deadly = set(deadly)
        self._death = death
        self._graphs = graphs

    def eager(self, programs: Sequence[Program]) -> list[Observation | Death]:
        """Die where that is due, else show nothing."""
        return [Observation() if self._graphs else self._run(program) for program in programs]

    def graph(self, programs: Sequence[Program], gradients: Any, again: Any = None) -> Any:
        """The same for one Program."""
        [answer] = map(self._run, programs)
        return answer if isinstance(answer, Death) else [answer]

    def _run(self, program: Program) -> Observation | Death:
        return self._death if self._deadly.intersection(program.ops()) else Observation()


def death(call: int | None, *, backward: bool = False, cause: Cause = "crash") -> Death:
    """A death at a call."""
    return Death(cause, "died", 0, call, "", backward)


@pytest.mark.parametrize(
    ("deadly", "noted", "phase", "blamed"),
    [
        (["exp"], death(2), "eager_forward", "exp"),  # it came later than the call that it is of
        (["exp", "sum"], death(1), "eager_forward", "sum"),
        (["sum"], death(None, backward=True), "eager_backward", "sum"),
        ([], death(2), "eager_forward", "neg"),  # no call is deadly alone
        ([], death(None, backward=True), "eager_backward", "program"),
        (["exp"], death(2, cause="timeout"), "eager_forward", "neg"),  # it is not waited for again
        (["exp"], death(2, cause="out_of_memory"), "eager_forward", "exp"),
    ],
)
def test_call(deadly: list[str], noted: Death, phase: str, blamed: str) -> None:
    """The call is blamed that ends the target alone; the one that it was at is asked first."""
    reference = Adapter()
    program, _ = recorded(reference, lambda: torch.neg(torch.sum(torch.exp(given(1.0)))))
    told = localize_death(reference, Mortal(deadly, noted), of_death(program, noted, "eager_forward"))
    assert (told.difference.phase, told.op) == (phase, blamed)
    assert (told.alone is None) is (noted.cause == "timeout" or not deadly)
    assert told.alone is None or told.alone.ops() == [blamed]
    assert told.difference.call == told.call


class Wrong:
    """A target that computes exp and what is saturated wrong, and tells other sizes."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch

    def eager(self, programs: Sequence[Program]) -> list[Observation | Death]:
        """What each Program shows with the faults."""
        with self._patch.context() as patch:
            exp, numel = pytorch.exp, pytorch.Tensor.numel
            patch.setattr(pytorch, "exp", lambda x: exp(x) * 1.01)
            patch.setattr(pytorch.nn.Tanh, "forward", lambda self, x: pytorch.tanh(x) * 1.01)
            patch.setattr(pytorch.Tensor, "numel", lambda x: numel(x) + 1)
            return [Replay(Adapter(), program).run() for program in programs]

    def graph(self, programs: Sequence[Program], gradients: Any, again: Any = None) -> Any:
        """No graph is asked for."""
        raise AssertionError(programs)


@pytest.mark.parametrize(
    ("body", "blamed"),
    [
        (lambda: torch.exp(given(1.0)).item(), "exp"),
        (lambda: torch.sum(torch.exp(given(1.0, 2.0))).item(), "exp"),
        (lambda: given(1.0) * float(torch.exp(given(1.0)).numpy()[0]), "exp"),
        (lambda: given(1.0) * given(1.0, 2.0).numel(), "numel"),
        (lambda: torch.neg(torch.neg(given(1.0))) * given(1.0, 2.0).numel(), "numel"),
    ],
)
def test_what_a_body_reads(monkeypatch: pytest.MonkeyPatch, body: Callable[[], Any], blamed: str) -> None:
    """A number that the body reads is wrong by the call that it comes of, or by the call that reads it."""
    reference = Adapter()
    program, seen = recorded(reference, body)
    target = Wrong(monkeypatch)
    [shown] = target.eager([program])
    assert isinstance(shown, Observation)
    found = eager_differences(reference, program, seen, shown, Rules())
    told = localize(reference, target, program, found, Rules(), Sides(seen, shown), graph=False)
    assert [divergence.op for divergence in told] == [blamed]


def of_modules(*, exchanged: bool) -> Any:
    """A Sequential in another one, of which a part may be exchanged."""
    inner = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Sigmoid())
    outer = torch.nn.Sequential(inner, torch.nn.Tanh())
    if exchanged:
        outer[0] = torch.nn.Sigmoid()
    return torch.neg(outer(given([1.0, -2.0])))


@pytest.mark.parametrize(("exchanged", "blamed"), [(False, "Tanh"), (True, "program")])
def test_part_of_a_sequential(monkeypatch: pytest.MonkeyPatch, exchanged: bool, blamed: str) -> None:
    """What a Sequential calls is asked by itself, unless it is no longer what it was made of."""
    reference = Adapter()
    program, seen = recorded(reference, lambda: of_modules(exchanged=exchanged))
    target = Wrong(monkeypatch)
    [shown] = target.eager([program])
    assert isinstance(shown, Observation)
    found = eager_differences(reference, program, seen, shown, Rules())
    told = localize(reference, target, program, found, Rules(), Sides(seen, shown), graph=False)
    assert {divergence.op for divergence in told} == {blamed}


def test_first_forward_of_another_case() -> None:
    """In a case that trains, too, the part that was found is that of its own first forward."""

    def body(recording: Recording) -> Any:
        module = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Tanh())
        torch.optim.SGD(module.parameters(), lr=0.1)
        return torch.square(module(trainings.batch(recording))).mean()

    first, second = trainings.recorded(body), trainings.recorded(body)
    apart = unrolled(first_forward(first))
    assert apart is not None
    for blamed in ("Tanh", "square"):
        index = [call.op for call in apart.calls].index(blamed)
        other = like(second, Divergence(Difference("eager_forward", "value", "t", "t"), apart, index))
        assert other.calls[index].op == blamed
    index = [call.op for call in first.calls].index("square")
    assert like(second, Divergence(Difference("eager_forward", "value", "t", "t"), first, index)) is second


def test_another_phase() -> None:
    """What ends the target alone, but in the backward, is not blamed for an end in the forward."""
    reference = Adapter()
    program, _ = recorded(reference, lambda: torch.neg(torch.sum(torch.exp(given(1.0)))))
    told = localize_death(
        reference, Mortal(["exp"], death(None, backward=True)), of_death(program, death(1), "eager_forward")
    )
    assert (told.op, told.alone) == ("sum", None)


def test_graph() -> None:
    """A static graph that ends the target is blamed on the call whose own graph does."""
    reference = Adapter()
    program, _ = recorded(reference, lambda: torch.neg(torch.sum(torch.exp(given(1.0)))))
    divergence = of_death(program, death(None), "graph_forward")
    told = localize_death(reference, Mortal(["sum"], death(None), graphs=True), divergence)
    assert (told.difference.phase, told.op) == ("graph_forward", "sum")
    assert localize_death(reference, Mortal([], death(None), graphs=True), divergence) is divergence


def test_refused_call() -> None:
    """A call that the reference refuses is run alone on what it was given."""
    reference = Adapter()

    def body() -> Any:
        x = torch.exp(given(1.0))
        with pytest.raises(RuntimeError, match="self must be a matrix"):
            torch.mm(x, given(2.0))
        return x

    program, _ = recorded(reference, body)
    told = localize_death(reference, Mortal(["mm"], death(1)), of_death(program, death(1), "eager_forward"))
    assert told.alone is not None
    assert [x.data.tolist() for x in told.alone.inputs] == [[pytest.approx(2.718281828459045)], [2.0]]
