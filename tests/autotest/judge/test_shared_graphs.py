"""Graphs of several tests: run once, held until their own test asks, and given up where they end the target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autotest.cases.case import Case
from autotest.judge.graph_batches import MAX_OPS, GraphPhase, GraphRun
from autotest.judge.shared_graphs import Foreseen, SharedGraphs
from autotest.workers.protocol import Death
from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.values import Ref
from dual_object.replay.adapter import GraphRefusal, TargetInfo
from dual_object.replay.observation import Observation, Seen
from dual_object.replay.second_call import SecondCall

DIED = Death("crash", "killed by SIGSEGV", 0, None, "")


def case(name: str, value: float = 1.0, calls: int = 1) -> Case:
    """A recorded case of one input."""
    array = np.full(1, value, np.float32)
    seen = Seen("float32", (1,), "cpu", True, array)
    done = [Call("function", "relu", (Ref(0),), {}, out=Ref(1)) for _ in range(calls)]
    program = Program([Input(0, "", array, "float32", True)], done, Ref(1))
    return Case(0, name, program, Observation(outputs={1: seen}, gradients={"0": seen}))


class Target:
    """Answers each Program with an observation of its own, unless it is to die."""

    def __init__(self, *shares: str, answer: Any = None) -> None:
        self.shares = shares
        self.answer = answer
        self.requests: list[tuple[list[Program], Any, Any]] = []

    def info(self) -> TargetInfo:
        """What it says of itself."""
        return TargetInfo("toy", {}, (), (), shares=self.shares)

    def unlowered(self, program: Program) -> None:
        """It has modules."""

    def eager(self, programs: Sequence[Program]) -> Any:
        """Nobody asks."""
        raise NotImplementedError

    def graph(self, programs: Sequence[Program], gradients: Any, again: Any = None, configuration: str = "") -> Any:
        """Note the request."""
        self.requests.append((list(programs), gradients, again))
        if self.answer is not None:
            return self.answer
        return [Observation(outputs={id(program): None}) for program in programs]  # type: ignore[dict-item]


def foreseen(*cases: Case, backward: bool = False, second: Any = "none") -> list[Foreseen]:
    """What the cases will ask for."""
    return [Foreseen(each, backward, second) for each in cases]


def test_one_graph_for_all_that_is_foreseen() -> None:
    """The first case that is asked for runs all of them, each as its own test asks for it; the others are there."""
    first, last = case("a#0"), case("b#0", 2.0)
    second = SecondCall(last.program, last.reference)
    both = [*foreseen(first), *foreseen(last, backward=True, second=second)]
    target = Target("toy")
    shared = SharedGraphs(target, lambda: both)
    run = shared.take(first, False)
    assert run is not None
    assert (run.case, run.backward, run.batched, run.second) == (first, False, True, "none")
    [(programs, gradients, again)] = target.requests
    assert programs == [first.program, last.program]
    assert gradients == [[], ["0"]]
    assert again == [None, second.arrays]
    assert run.result == Observation(outputs={id(first.program): None})  # type: ignore[dict-item]
    held = shared.take(last, True)
    assert held is not None
    assert held.second is second
    assert held.result == Observation(outputs={id(last.program): None})  # type: ignore[dict-item]
    assert len(target.requests) == 1


def test_another_group_runs_anew() -> None:
    """What is foreseen for other tests runs when one of these asks; what nobody has asked for is let go."""
    groups = [foreseen(case("a#0"), case("b#0")), foreseen(case("c#0"), case("d#0"))]
    now = groups[0]
    target = Target("toy")
    shared = SharedGraphs(target, lambda: now)
    assert shared.take(case("a#0"), False) is not None
    now = groups[1]
    assert shared.take(case("c#0"), False) is not None
    assert shared.take(case("b#0"), False) is None
    assert [len(programs) for programs, _, _ in target.requests] == [2, 2]


def test_other_programs_are_not_taken() -> None:
    """A case that its own test draws as another Program, or wants gradients of that nobody foresaw, runs there."""
    both = foreseen(case("a#0"), case("b#0"))
    shared = SharedGraphs(Target("toy"), lambda: both)
    assert shared.take(case("a#0", 3.0), False) is None
    assert shared.take(case("b#0"), True) is None
    assert shared.take(case("z#0"), False) is None


def test_graphs_are_filled() -> None:
    """What is too much for one graph runs in several."""
    many = foreseen(*(case(f"a#{index}", calls=MAX_OPS // 2) for index in range(5)))
    target = Target("toy")
    assert SharedGraphs(target, lambda: many).take(many[0].case, False) is not None
    assert [len(programs) for programs, _, _ in target.requests] == [2, 2, 1]


def test_target_of_its_own_graphs() -> None:
    """Where a target has not said that many cost little, or another of its stages has, nothing is foreseen."""

    def foresee() -> Sequence[Foreseen]:
        raise AssertionError

    target = Target("another stage")
    assert SharedGraphs(target, foresee).take(case("a#0"), False) is None
    assert target.requests == []


def test_nothing_is_shared_after_an_end() -> None:
    """A graph that ends the target gives nothing, nor is another shared."""
    groups = [foreseen(*(case(f"a#{n}", calls=MAX_OPS) for n in range(3))), foreseen(case("c#0"), case("d#0"))]
    now = groups[0]
    target = Target("toy", answer=DIED)
    shared = SharedGraphs(target, lambda: now)
    assert [shared.take(each.case, False) for each in now] == [None, None, None]
    now = groups[1]
    assert shared.take(case("c#0"), False) is None
    assert len(target.requests) == 1


class Ahead:
    """Has run some cases."""

    def __init__(self, **results: Any) -> None:
        self.results = results

    def take(self, case: Case, backward: bool) -> GraphRun | None:
        """One of them."""
        result = self.results.get(case.key)
        return None if result is None else GraphRun(case, backward, True, result)


def test_phase_runs_what_is_left() -> None:
    """What has run ahead is given as it is; the rest shares graphs of its own test."""
    cases = [replace(case(f"a{index}"), index=index) for index in range(4)]
    refusal = GraphRefusal(True, None, (), "no")
    target = Target()
    phase = GraphPhase(target, ahead=Ahead(a1=refusal))
    runs = {run.case.key: run for run in phase.run(cases, {"a3"})}
    assert sorted(runs) == ["a0", "a1", "a2", "a3"]
    assert runs["a1"].result is refusal
    assert [programs for programs, _, _ in target.requests] == [
        [cases[0].program, cases[2].program],
        [cases[3].program],
    ]
