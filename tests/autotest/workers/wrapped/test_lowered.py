"""A target without modules: Programs are lowered before they are sent, and what comes back is told of their modules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
import pytest

from autotest.conformance.bodies import BODIES, Recorded, assert_graph, assert_same, record, tensor, torch
from autotest.workers.inline import InlineTarget
from autotest.workers.protocol import Death
from autotest.workers.wrapped.configured import Configured
from autotest.workers.wrapped.lowered import LoweringSupervisor
from dual_object import Program
from dual_object.adapters.torch.adapter import Adapter
from dual_object.replay.adapter import Configuration, GraphRefusal, Watched, load_reference
from dual_object.replay.observation import ALL_PARTS, Observation
from dual_object.replay.second_call import second_call
from support.moduleless import Adapter as Moduleless
from support.runs import SUPPORT

nn = torch.nn
Start = Callable[..., LoweringSupervisor]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Gives a function that makes a supervisor of a target, with a fault planted."""
    monkeypatch.syspath_prepend(SUPPORT)
    made: list[LoweringSupervisor] = []

    def start(
        fault: str | None = None, target: str = "moduleless:Adapter", reference: Any = load_reference
    ) -> LoweringSupervisor:
        if fault is not None:
            monkeypatch.setenv("AUTOTEST_FAULT", f"moduleless_faults:{fault}")
        made.append(LoweringSupervisor(target, 60, reference=reference))
        return made[-1]

    yield start
    for supervisor in made:
        supervisor.close()


def recorded(name: str) -> Recorded:
    """One of the common bodies."""
    return record(BODIES[name], load_reference())


def averaging() -> Any:
    """A layer that cannot be lowered."""
    return nn.BatchNorm1d(3, momentum=None)(tensor(5, 3))


WHY = "BatchNorm1d reads values to Python by Tensor.__float__"


def test_eager_and_graph(start: Start) -> None:
    """Layers and functions show what PyTorch shows, in the order in which they were asked; what cannot be lowered is
    not sent.
    """
    supervisor = start()
    names = ("linear", "relu", "batch_norm", "lstm", "sequential")
    cases = [recorded(name) for name in names]
    cannot = record(averaging, load_reference()).program
    programs = [cases[0].program, cannot, *(case.program for case in cases[1:])]
    pending = supervisor.submit(programs)
    first, refused, *rest = pending.result()
    assert pending.ready
    assert isinstance(refused, Observation)
    [failure] = refused.failures
    assert (failure.call, failure.kind, failure.classes, failure.message) == (
        *(None, "unsupported", ("NotLowered",)),
        WHY,
    )
    assert refused.ended
    for case, seen in zip(cases, [first, *rest], strict=True):
        assert isinstance(seen, Observation)
        assert_same(case.seen, seen, rtol=1e-5, atol=1e-6)  # in another process sums may be taken otherwise
        assert seen.shows == (ALL_PARTS if case is cases[1] else ALL_PARTS - {"states"})
    keys = [cases[0].gradient_keys(), [], *(case.gradient_keys() for case in cases[1:])]
    results = supervisor.graph(programs, keys)
    assert isinstance(results, list)
    assert results.pop(1) == GraphRefusal(True, None, (), WHY)
    for case, result in zip(cases, results, strict=True):
        assert isinstance(result, Observation)
        assert_graph(case, result, case.gradient_keys())
        for key, buffer in case.seen.buffers.items():
            np.testing.assert_allclose(result.buffers[key].data, buffer.data, rtol=1e-6)
    assert supervisor.graph([cannot], None) == [GraphRefusal(True, None, (), WHY)]
    assert (supervisor.unlowered(cannot), supervisor.unlowered(programs[0])) == (WHY, None)
    assert supervisor.spawned == 1


def test_called_again(start: Start) -> None:
    """A second call of a graph goes on with the buffers that the first one has left."""
    supervisor, reference = start(), load_reference()
    case = recorded("batch_norm")
    second = second_call(reference, case.program, case.seen)
    assert not isinstance(second, str)
    results = supervisor.graph([case.program], [case.gradient_keys()], [second.arrays])
    assert isinstance(results, list)
    [result] = results
    assert isinstance(result, Observation)
    assert result.again is not None
    for key, buffer in second.reference.buffers.items():
        np.testing.assert_allclose(result.again.buffers[key].data, buffer.data, rtol=1e-6)
    assert [*result.again.gradients] == case.gradient_keys()


def test_nothing_is_lowered_for_who_has_modules(start: Start) -> None:
    """A target that does not say that it lacks them is sent Programs as they are, and no reference is asked for."""

    def nobody() -> Any:
        raise AssertionError("asked for a reference")

    supervisor = start(target="torch", reference=nobody)
    case = recorded("linear")
    [seen] = supervisor.eager([case.program])
    assert isinstance(seen, Observation)
    assert seen.states == case.seen.states != {}
    assert isinstance(supervisor.graph([case.program], None), list)
    assert supervisor.unlowered(case.program) is None


def test_fault_of_a_buffer(start: Start) -> None:
    """Statistics that are not written are seen, eagerly and in a graph."""
    supervisor = start("statistics_kept")
    case = recorded("batch_norm")
    [seen] = supervisor.eager([case.program])
    graphs = supervisor.graph([case.program], None)
    assert isinstance(graphs, list)
    [graph] = graphs
    for shown in (seen, graph):
        assert isinstance(shown, Observation)
        wrong = [
            key.partition(".")[2]
            for key, buffer in case.seen.buffers.items()
            if not np.allclose(shown.buffers[key].data, buffer.data)
        ]
        assert sorted(wrong) == ["running_mean", "running_var"]


def test_refusal_names_the_function(start: Start) -> None:
    """What a function raises is blamed on the module's call."""
    supervisor = start("linear_refused")
    program = record(lambda: nn.Linear(3, 4)(tensor(2, 3) * 2), load_reference()).program
    [index] = [i for i, call in enumerate(program.calls) if call.kind == "call"]
    [seen] = supervisor.eager([program])
    assert isinstance(seen, Observation)
    [failure] = seen.failures
    words = "in nn.functional.linear: no kernel for linear"
    assert (failure.call, failure.kind, failure.message) == (index, "unsupported", words)
    results = supervisor.graph([program], None)
    assert isinstance(results, list)
    assert [(one.call, one.message) for one in results if isinstance(one, GraphRefusal)] == [(index, words)]


def test_death_names_the_function(start: Start) -> None:
    """So is what ends the process, in which the others are run again."""
    supervisor = start("linear_deadly")
    program = record(lambda: nn.Linear(3, 4)(tensor(2, 3) * 2), load_reference()).program
    [index] = [i for i, call in enumerate(program.calls) if call.kind == "call"]
    cannot = record(averaging, load_reference()).program
    one, refused, death, other = supervisor.eager([recorded("relu").program, cannot, program, recorded("relu").program])
    assert isinstance(death, Death)
    assert (death.cause, death.call) == ("crash", index)
    assert death.sentence().startswith("killed by SIGABRT: in nn.functional.linear")
    assert not any(isinstance(answer, Death) for answer in (one, refused, other))
    killed = supervisor.graph([cannot, program], None)
    assert isinstance(killed, Death)
    assert killed.cause == "crash"
    asked = supervisor.submit([cannot, program, recorded("relu").program], enough=1).result()
    assert [type(answer) for answer in asked] == [Observation, Death]


def doubled(made: Any) -> Any:
    """A call with another result than it had."""
    return made._replace(op="neg")


class Mistaking(Adapter):
    """A reference that takes one function for another."""

    @contextmanager
    def _mistaken(self, watching: AbstractContextManager[Watched]) -> Iterator[Watched]:
        with watching as seen:
            yield seen
        seen.made[:] = [doubled(one) for one in seen.made]

    def watching(self) -> AbstractContextManager[Watched]:
        """What is watched, as another function."""
        return self._mistaken(super().watching())


def test_lowering_is_proved(start: Start) -> None:
    """What does not do on PyTorch itself what the module does is never sent."""
    program = record(lambda: nn.Sigmoid()(tensor(2, 3)), load_reference()).program
    wrong = start(reference=Mistaking)
    reason = wrong.unlowered(program)
    assert reason is not None
    assert reason.startswith("what its modules call does not do what they do: t0 ")
    assert wrong.graph([program], None) == [GraphRefusal(True, None, (), reason)]
    assert start().unlowered(program) is None


def test_random_layers_are_proved(start: Start) -> None:
    """What a layer draws is not compared, and is drawn by the function in its place."""
    program = record(lambda: nn.Dropout(0.5)(nn.Linear(3, 4)(tensor(2, 3))), load_reference()).program
    assert program.random is not None
    assert start().unlowered(program) is None


def test_kept_lowerings_are_their_own(start: Start) -> None:
    """A lowering is kept for the very Program that it is of, and the oldest is forgotten."""
    supervisor = start()
    program = recorded("linear").program
    before = supervisor._lowered(program)
    assert supervisor._lowered(program) is before
    for _ in range(70):
        supervisor._lowered(Program())
    assert len(supervisor._kept) <= 65
    assert supervisor._lowered(program) is not before


def test_inline() -> None:
    """In this process calls run one by one as they are recorded, and layers are not lowered."""
    target = InlineTarget(Moduleless())
    assert target.info().lacks == ("modules",)
    assert target.unlowered(recorded("linear").program) == "in this process each call runs as it is recorded"
    assert target.unlowered(recorded("relu").program) is None


def test_configured(start: Start) -> None:
    """Under a configuration of its graphs a target has no more modules than without."""
    target = Configured(start(), Configuration("fused", "fuses"))
    assert target.unlowered(record(averaging, load_reference()).program) == WHY
