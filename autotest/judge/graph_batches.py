"""Graph runs: which cases share one static graph, and the narrowing of a batch that fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from autotest.cases.case import Case
from autotest.judge.judgement import VERIFIED, Check
from autotest.judge.second_call import Draw
from autotest.options import GraphBackward
from autotest.workers.alone import GraphResult
from autotest.workers.protocol import Cause, Death, GraphFailure, GraphTarget
from dual_object.program.program import Program
from dual_object.replay.adapter import GraphRefusal
from dual_object.replay.observation import Observation
from dual_object.replay.second_call import SecondCall

#: A graph is filled to so many ops (a third of the cost per case against one case per graph; more gains nothing) ...
MAX_OPS = 40
#: ... in so many Programs.
MAX_PROGRAMS = 20
#: ... and a recurrent module counts as so many: at most four belong together.
RECURRENT_OPS = 10
_RECURRENT = frozenset({"RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell"})
#: A test may cost so many workers in its graph phase; what is not run then is counted with that reason.
MAX_DEATHS = 4
#: Why a graph has shown nothing, by what ended the target in it.
_ENDS: Mapping[Cause, str] = {
    "crash": "the graph ended in a crash",
    "timeout": "the graph ended in a timeout",
    "out_of_memory": "the graph ended out of memory",
}


@dataclass(frozen=True, slots=True)
class GraphRun:
    """One case's result in a graph; `batched` when others were in it, `backward` when its gradients were asked for.

    `second` is what the graph was called again with, or why it was not. `once` is how a graph that the case shared
    ended the target, which raised instead when it ran again with fewer.
    """

    case: Case
    backward: bool
    batched: bool
    result: GraphResult | None
    reason: str | None = None
    second: SecondCall | str = "not asked for"
    once: Death | None = None

    @property
    def skipped(self) -> bool:
        """Whether the target has no such graph at all."""
        return isinstance(self.result, GraphRefusal) and self.result.skipped

    def check(self) -> Check:
        """What became of the case's graph."""
        result = self.result
        if isinstance(result, Observation):
            return VERIFIED
        if isinstance(result, Death):
            return Check("unverified", _ENDS[result.cause])
        if result is None:
            return Check("unverified", self.reason or "not run")
        if self.skipped:
            return Check("unverified", result.message or "not run")
        return Check("unverified", "the target's graph refused it")


class Recorded(Protocol):
    """What runs a Program."""

    @property
    def program(self) -> Program:
        """What it runs."""


class Ahead(Protocol):
    """What has run in graphs already that several tests share."""

    def take(self, case: Case, backward: bool) -> GraphRun | None:
        """What a case has shown there; None where it was in none, or not as its own test asks for it."""


_Recorded = TypeVar("_Recorded", bound=Recorded)


def backward_share(cases: Sequence[Case], mode: GraphBackward) -> set[str]:
    """Keys of the cases whose graph also runs backward: with `share` every fourth, at least three per test; else all or
    none.
    """
    differentiable = [case.key for case in cases if case.program.cotangents and case.gradient_keys()]
    if mode == "none":
        return set()
    if mode == "all":
        return set(differentiable)
    step = max(1, min(4, len(differentiable) // 3))
    return set(differentiable[::step])


def weight(program: Program) -> int:
    """How many ops a Program counts as when graphs are filled: one that trains fills its own."""
    if program.training is not None:
        return MAX_OPS
    ops = program.ops()
    return len(ops) + (RECURRENT_OPS - 1) * sum(op in _RECURRENT for op in ops)


def batches(cases: Sequence[_Recorded]) -> Iterator[list[_Recorded]]:
    """Fill graphs with cases in order."""
    batch: list[_Recorded] = []
    filled = 0
    for case in cases:
        size = weight(case.program)
        if batch and (filled + size > MAX_OPS or len(batch) >= MAX_PROGRAMS):
            yield batch
            batch, filled = [], 0
        batch.append(case)
        filled += size
    if batch:
        yield batch


class GraphPhase:
    """Runs the cases of one test in graphs; stops once they have ended `MAX_DEATHS` workers.

    Each graph is called twice, the second time with the values that `again` draws for its cases; once where that is
    None. What has run `ahead` does not run again.
    """

    def __init__(self, target: GraphTarget, again: Draw | None = None, ahead: Ahead | None = None) -> None:
        self._target = target
        self._again = again
        self._ahead = ahead
        self._deaths = 0

    def run(self, cases: Sequence[Case], backward: Set[str]) -> Iterator[GraphRun]:
        """A result for every case; those whose keys are in `backward` also run backward."""
        for with_gradients in (False, True):
            chosen = [case for case in cases if (case.key in backward) == with_gradients]
            ran = {case.key: self._ahead.take(case, with_gradients) for case in chosen} if self._ahead else {}
            yield from (run for run in ran.values() if run is not None)
            for batch in batches([case for case in chosen if ran.get(case.key) is None]):
                yield from self._narrow(batch, with_gradients)

    def alone(self, case: Case, backward: bool) -> GraphRun:
        """One case in a graph of its own."""
        [run] = self._narrow([case], backward)
        return run

    def _narrow(self, batch: list[Case], backward: bool) -> Iterator[GraphRun]:
        """Run a batch in one graph. Where that fails as a whole, each case runs in one of its own: a graph costs a
        twentieth of the process that each failure costs. Where none fails alone, the first gets the failure of all.
        """
        if self._deaths >= MAX_DEATHS:
            reason = f"the graphs of this test have already ended {MAX_DEATHS} workers"
            for case in batch:
                yield GraphRun(case, backward, False, None, reason)
            return
        seconds: list[SecondCall | str] = ["not asked for"] * len(batch)
        if self._again is not None:
            seconds = [self._again(case) for case in batch]
        answer = self._graph(batch, backward, seconds)
        if isinstance(answer, list):
            for case, result, second in zip(batch, answer, seconds, strict=True):
                yield GraphRun(case, backward, len(batch) > 1, result, second=second)
            return
        self._deaths += 1
        if len(batch) == 1:
            yield GraphRun(batch[0], backward, False, answer)
            return
        runs = [run for case in batch for run in self._narrow([case], backward)]
        if isinstance(answer, Death) and answer.cause == "crash":
            runs = self._with_raised(runs, backward, answer)
        blamed = any(isinstance(run.result, (Death, GraphFailure)) or run.once for run in runs)
        skipped = any(run.result is None for run in runs)
        # Memory or time that no case takes alone was that of all cases together, and nobody's fault.
        full = isinstance(answer, Death) and answer.cause in ("out_of_memory", "timeout")
        sound = [run.case for run in runs if isinstance(run.result, Observation)]
        for run in runs:
            # Each runs alone: only together they fail.
            if run.case is (sound or batch)[0] and not (blamed or skipped or full):
                yield GraphRun(run.case, backward, True, answer)
            else:
                yield run

    def _with_raised(self, runs: list[GraphRun], backward: bool, death: Death) -> list[GraphRun]:
        """The runs of a batch that has ended the target. Where a case raises alone, and the others do not end it
        without that one, the batch has raised, too: the death is told with the first such case.
        """
        if any(isinstance(run.result, (Death, GraphFailure)) or run.once for run in runs):
            return runs
        raised = [run for run in runs if isinstance(run.result, GraphRefusal) and not run.result.skipped]
        sound = [run.case for run in runs if isinstance(run.result, Observation)]
        if not raised or (len(sound) > 1 and not isinstance(self._graph(sound, backward), list)):
            return runs
        return [replace(run, once=death) if run is raised[0] else run for run in runs]

    def _graph(
        self, batch: Sequence[Case], backward: bool, seconds: Sequence[SecondCall | str] = ()
    ) -> list[Observation | GraphRefusal] | GraphFailure | Death:
        """One graph of all of a batch, called again where there are second calls."""
        gradients = [case.gradient_keys() for case in batch] if backward else None
        programs = [case.program for case in batch]
        if self._again is None or not seconds:
            return self._target.graph(programs, gradients)
        values = [None if isinstance(second, str) else second.arrays for second in seconds]
        return self._target.graph(programs, gradients, values)
