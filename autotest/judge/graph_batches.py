"""Graph runs: which cases share one static graph, and the narrowing of a batch that fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from autotest.cases.case import Case
from autotest.judge.second_call import Draw
from autotest.options import GraphBackward
from autotest.workers.alone import GraphResult
from autotest.workers.protocol import Death, GraphFailure, GraphTarget
from dual_object.program.program import Program
from dual_object.replay.second_call import SecondCall

#: A graph is filled to so many ops (a third of the cost per case against one case per graph; more gains nothing) ...
MAX_OPS = 40
#: ... and a recurrent module counts as so many: at most four belong together.
RECURRENT_OPS = 10
_RECURRENT = frozenset({"RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell"})
#: A test may cost so many workers in its graph phase; what is not run then is counted with that reason.
MAX_DEATHS = 6


@dataclass(frozen=True, slots=True)
class GraphRun:
    """One case's result in a graph; `batched` when others were in it, `backward` when its gradients were asked for.

    `second` is what the graph was called again with, or why it was not.
    """

    case: Case
    backward: bool
    batched: bool
    result: GraphResult | None
    reason: str | None = None
    second: SecondCall | str = "not asked for"


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
    """How many ops a Program counts as when graphs are filled."""
    ops = program.ops()
    return len(ops) + (RECURRENT_OPS - 1) * sum(op in _RECURRENT for op in ops)


def batches(cases: Sequence[Case]) -> Iterator[list[Case]]:
    """Fill graphs with cases in order."""
    batch: list[Case] = []
    filled = 0
    for case in cases:
        size = weight(case.program)
        if batch and (filled + size > MAX_OPS or len(batch) >= 20):
            yield batch
            batch, filled = [], 0
        batch.append(case)
        filled += size
    if batch:
        yield batch


class GraphPhase:
    """Runs the cases of one test in graphs; stops once they have ended `MAX_DEATHS` workers.

    Each graph is called twice, the second time with the values that `again` draws for its cases; once where that is
    None.
    """

    def __init__(self, target: GraphTarget, again: Draw | None = None) -> None:
        self._target = target
        self._again = again
        self._deaths = 0

    def run(self, cases: Sequence[Case], backward: Set[str]) -> Iterator[GraphRun]:
        """A result for every case; those whose keys are in `backward` also run backward."""
        for with_gradients in (False, True):
            chosen = [case for case in cases if (case.key in backward) == with_gradients]
            for batch in batches(chosen):
                yield from self._narrow(batch, with_gradients)

    def alone(self, case: Case, backward: bool) -> GraphRun:
        """One case in a graph of its own."""
        [run] = self._narrow([case], backward)
        return run

    def _narrow(self, batch: list[Case], backward: bool) -> Iterator[GraphRun]:
        """Run a batch in one graph. One that fails as a whole is run again in halves, down to the cases that fail
        alone; where none does, its first case gets the failure of the batch.
        """
        if self._deaths >= MAX_DEATHS:
            reason = f"the graphs of this test have already ended {MAX_DEATHS} workers"
            for case in batch:
                yield GraphRun(case, backward, False, None, reason)
            return
        gradients = [case.gradient_keys() for case in batch] if backward else None
        programs = [case.program for case in batch]
        if self._again is None:
            seconds: list[SecondCall | str] = ["not asked for"] * len(batch)
            answer = self._target.graph(programs, gradients)
        else:
            seconds = [self._again(case) for case in batch]
            values = [None if isinstance(second, str) else second.arrays for second in seconds]
            answer = self._target.graph(programs, gradients, values)
        if isinstance(answer, list):
            for case, result, second in zip(batch, answer, seconds, strict=True):
                yield GraphRun(case, backward, len(batch) > 1, result, second=second)
            return
        self._deaths += 1
        if len(batch) == 1:
            yield GraphRun(batch[0], backward, False, answer)
            return
        half = len(batch) // 2
        runs = [*self._narrow(batch[:half], backward), *self._narrow(batch[half:], backward)]
        blamed = any(isinstance(run.result, (Death, GraphFailure)) for run in runs)
        skipped = any(run.result is None for run in runs)
        # Memory that no half takes alone was that of all cases together, and nobody's fault.
        full = isinstance(answer, Death) and answer.cause == "out_of_memory"
        for position, run in enumerate(runs):
            # Each half runs alone: only together they fail.
            if position == 0 and not (blamed or skipped or full):
                yield GraphRun(run.case, backward, True, answer)
            else:
                yield run
