"""Which cases share a graph, which run backward there, and the narrowing of a batch that fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from autotest.cases.case import Case
from autotest.judge.graph_batches import MAX_DEATHS, MAX_OPS, GraphPhase, backward_share, batches, weight
from autotest.workers.protocol import Cause, Death, GraphFailure
from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.values import Ref
from dual_object.replay.adapter import GraphRefusal
from dual_object.replay.observation import Observation, Seen

ONE = np.ones(1, np.float32)
SEEN = Seen("float32", (1,), "cpu", True, ONE)


def case(index: int, *ops: str, differentiable: bool = True) -> Case:
    """A recorded case of some calls."""
    calls = [Call("function", op, (Ref(0),), {}, out=Ref(1)) for op in ops or ("relu",)]
    program = Program([Input(0, "", ONE, "float32", differentiable)], calls, Ref(1))
    reference = Observation(outputs={1: SEEN}, gradients={"0": SEEN if differentiable else None})
    if differentiable:
        program.cotangents = {1: ONE}
    return Case(index, f"t#{index}", program, reference)


def cases(count: int, *ops: str) -> list[Case]:
    """Cases numbered from 0."""
    return [case(index, *ops) for index in range(count)]


def keys(*numbers: int) -> set[str]:
    """The keys of the cases with these numbers."""
    return {f"t#{number}" for number in numbers}


@pytest.mark.parametrize(
    ("count", "share"),
    [
        (1, {0}),
        (2, {0, 1}),
        (3, {0, 1, 2}),
        (5, {0, 1, 2, 3, 4}),
        (6, {0, 2, 4}),
        (9, {0, 3, 6}),
        (12, {0, 4, 8}),
        (20, {0, 4, 8, 12, 16}),
    ],
)
def test_share_is_every_fourth_and_at_least_three(count: int, share: set[int]) -> None:
    """The share is every fourth case, at least three per test, all where there are fewer."""
    assert backward_share(cases(count), "share") == keys(*share)


def test_share_counts_only_differentiable_cases() -> None:
    """Cases without a gradient or a cotangent neither count nor run backward."""
    mixed = [case(index, differentiable=index % 2 == 1) for index in range(8)]
    assert backward_share(mixed, "all") == keys(1, 3, 5, 7)
    assert backward_share(mixed, "share") == keys(1, 3, 5, 7)
    assert backward_share(mixed, "none") == set()


def test_weight_counts_ops_and_recurrent_modules_more() -> None:
    """A Program weighs as many ops as it calls; a recurrent module weighs ten."""
    assert weight(case(0, "relu", "add", "mm").program) == 3
    assert weight(case(0, "relu", "nn.LSTM").program) == 11


def sizes(drawn: Sequence[Case]) -> list[int]:
    """The sizes of the batches."""
    return [len(batch) for batch in batches(drawn)]


def test_graphs_are_filled_by_ops() -> None:
    """A graph holds at most 40 ops and at most 20 cases, in order; four recurrent ones; one that is larger alone."""
    assert sizes(cases(45)) == [20, 20, 5]
    assert sizes(cases(9, *["relu"] * 10)) == [4, 4, 1]
    assert sizes(cases(9, "nn.LSTM")) == [4, 4, 1]
    assert sizes(cases(3, *["relu"] * (MAX_OPS + 1))) == [1, 1, 1]
    assert sizes([]) == []
    order = [c.index for batch in batches(cases(45)) for c in batch]
    assert order == list(range(45))


Answer = list[Observation | GraphRefusal] | GraphFailure | Death


class FakeTarget:
    """A target whose graphs fail where `fails` says so, for the ops of the programs in it."""

    def __init__(self, fails: Callable[[list[str]], Answer | None]) -> None:
        self.fails = fails
        self.asked: list[tuple[int, bool]] = []

    def graph(
        self, programs: Sequence[Program], gradients: Sequence[Sequence[str]] | None
    ) -> list[Observation | GraphRefusal] | GraphFailure | Death:
        """What `fails` says, else an empty observation for each."""
        self.asked.append((len(programs), gradients is not None))
        failure = self.fails([op for program in programs for op in program.ops()])
        return [Observation() for _ in programs] if failure is None else failure


FAILURE = GraphFailure(("RuntimeError",), "no")
DEATH = Death("crash", "killed by SIGABRT", 0, None, "")


def test_forward_and_backward_cases_have_graphs_of_their_own() -> None:
    """Cases of the share run in graphs with gradients, the others in graphs without."""
    target = FakeTarget(lambda ops: None)
    runs = list(GraphPhase(target).run(cases(5), keys(1, 3)))
    assert target.asked == [(3, False), (2, True)]
    assert {(run.case.index, run.backward, run.batched) for run in runs} == {
        (0, False, True),
        (2, False, True),
        (4, False, True),
        (1, True, True),
        (3, True, True),
    }


def test_gradients_asked_for_are_the_references() -> None:
    """A graph is asked for the gradients that the reference has."""
    asked: list[Sequence[Sequence[str]] | None] = []

    class Asked(FakeTarget):
        def graph(self, programs: Sequence[Program], gradients: Sequence[Sequence[str]] | None) -> Answer:
            asked.append(gradients)
            return super().graph(programs, gradients)

    GraphPhase(Asked(lambda ops: None)).alone(case(0), True)
    assert asked == [[["0"]]]


@pytest.mark.parametrize("failure", [FAILURE, DEATH])
def test_narrowing_finds_the_case_that_fails(failure: GraphFailure | Death) -> None:
    """Each case of a batch that fails runs alone: one fails there, too, and the others have their results."""
    drawn = cases(8)
    drawn[5] = case(5, "bad")
    target = FakeTarget(lambda ops: failure if "bad" in ops else None)
    runs = list(GraphPhase(target).run(drawn, set()))
    assert [run.case.index for run in runs] == list(range(8))
    assert [run.case.index for run in runs if run.result is failure] == [5]
    assert [run.batched for run in runs if run.result is failure] == [False]
    assert all(isinstance(run.result, Observation) for run in runs if run.case.index != 5)
    assert [size for size, _ in target.asked] == [8, *[1] * 8]


def test_failure_that_needs_company_is_batched() -> None:
    """A batch that fails although each of its cases runs is reported once, as of a batch."""
    target = FakeTarget(lambda ops: FAILURE if len(ops) > 1 else None)
    runs = list(GraphPhase(target).run(cases(2), set()))
    assert [(run.case.index, run.result is FAILURE, run.batched) for run in runs] == [
        (0, True, True),
        (1, False, False),
    ]


@pytest.mark.parametrize("cause", ["out_of_memory", "timeout"])
def test_what_needs_company_to_be_too_much_is_nobodys(cause: Cause) -> None:
    """A batch that holds too much, or takes too long, although no case does is nobody's failure; a case that does so
    alone has it.
    """
    full = replace(DEATH, cause=cause)
    runs = list(GraphPhase(FakeTarget(lambda ops: full if len(ops) > 1 else None)).run(cases(2), set()))
    assert [type(run.result) for run in runs] == [Observation, Observation]
    runs = list(GraphPhase(FakeTarget(lambda ops: full)).run(cases(1), set()))
    assert [run.result for run in runs] == [full]


REFUSAL = GraphRefusal(False, 0, ("RuntimeError",), "no")


def test_batch_that_dies_of_what_its_cases_raise() -> None:
    """Where each case raises alone, the death of the batch is told beside the first of them, once."""
    fake = FakeTarget(lambda ops: DEATH if len(ops) > 1 else [REFUSAL])
    runs = list(GraphPhase(fake).run(cases(4), set()))
    assert [run.result for run in runs] == [REFUSAL] * 4
    assert [run.once for run in runs] == [DEATH, None, None, None]


def test_death_of_a_batch_without_the_case_that_raises() -> None:
    """Where the others end the target together without it, too, the death is theirs."""
    drawn = cases(4)
    drawn[0] = case(0, "bad")
    fake = FakeTarget(lambda ops: None)

    def fails(ops: list[str]) -> Answer | None:
        alone = [REFUSAL if op == "bad" else Observation() for op in ops]
        return DEATH if len([op for op in ops if op != "bad"]) > 2 else alone

    fake.fails = fails
    runs = list(GraphPhase(fake).run(drawn, set()))
    assert [run.result if run.result in (REFUSAL, DEATH) else "sound" for run in runs] == [
        *(REFUSAL, DEATH, "sound", "sound")
    ]
    assert [run.once for run in runs] == [None] * 4
    assert [size for size, _ in fake.asked] == [4, 1, 1, 1, 1, 3]


def test_batch_that_is_skipped_has_raised_nothing() -> None:
    """A case without a graph explains no death."""
    skipped = GraphRefusal(True, None, (), "none here")
    fake = FakeTarget(lambda ops: None)
    fake.fails = lambda ops: DEATH if len(ops) > 1 else [skipped]
    runs = list(GraphPhase(fake).run(cases(2), set()))
    assert [(run.result, run.once) for run in runs] == [(DEATH, None), (skipped, None)]


def test_graph_phase_gives_up_after_some_workers() -> None:
    """After so many failed graphs the rest of the test's graphs are not run, and each case says so."""
    target = FakeTarget(lambda ops: DEATH)
    runs = list(GraphPhase(target).run(cases(20), set()))
    assert len(target.asked) == MAX_DEATHS
    assert len(runs) == 20
    assert {run.reason for run in runs if run.result is None} == {
        f"the graphs of this test have already ended {MAX_DEATHS} workers"
    }
    assert sum(run.result is DEATH for run in runs) >= 1
