"""Graphs that tests share: where each test has too few cases to fill one, those of its neighbours run with them.

Where one callable may run many Programs, it is the callable that costs: what `torch.compile` makes of 20 of them costs
as much as of two or three alone. What has run so is held until its own test asks for it, and judged there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from autotest.cases.case import Case
from autotest.cases.digest import program_digest
from autotest.judge.graph_batches import GraphRun, batches
from autotest.workers.protocol import Target
from dual_object.program.program import Program
from dual_object.replay.adapter import GraphRefusal
from dual_object.replay.observation import Observation
from dual_object.replay.second_call import SecondCall


@dataclass(frozen=True, slots=True)
class Foreseen:
    """A case that will want a graph, with `backward` or without, and what that will be called again with."""

    case: Case
    backward: bool
    second: SecondCall | str

    @property
    def program(self) -> Program:
        """What it runs."""
        return self.case.program


class SharedGraphs:
    """Runs what `foresee` gives, all cases of the running test and its neighbours, in graphs of one target, once.

    A graph that ends the target is nobody's: whichever case has ended it does so again in its own test. No graph is
    shared after that.
    """

    def __init__(self, target: Target, foresee: Callable[[], Sequence[Foreseen]]) -> None:
        self._target = target
        self._foresee = foresee
        self._asked: Sequence[Foreseen] = ()
        self._held: dict[str, tuple[Foreseen, Observation | GraphRefusal]] = {}
        self._ended = False

    def take(self, case: Case, backward: bool) -> GraphRun | None:
        """What a case has shown; None where it was in no such graph, or its test asks for another Program, or for
        gradients that nobody foresaw.
        """
        info = self._target.info()
        if info.name not in info.shares:
            return None
        foreseen = self._foresee()
        if foreseen is not self._asked:
            self._asked = foreseen
            self._held = self._run(foreseen)
        held = self._held.pop(case.key, None)
        if held is None:
            return None
        one, result = held
        if one.backward != backward or program_digest(one.program) != program_digest(case.program):
            return None
        return GraphRun(case, backward, True, result, second=one.second)

    def _run(self, foreseen: Sequence[Foreseen]) -> dict[str, tuple[Foreseen, Observation | GraphRefusal]]:
        held: dict[str, tuple[Foreseen, Observation | GraphRefusal]] = {}
        for batch in batches(foreseen):
            if self._ended:
                break
            gradients = [one.case.gradient_keys() if one.backward else [] for one in batch]
            values = [None if isinstance(one.second, str) else one.second.arrays for one in batch]
            answer = self._target.graph([one.program for one in batch], gradients, values)
            if isinstance(answer, list):
                held |= {one.case.key: (one, result) for one, result in zip(batch, answer, strict=True)}
            else:
                self._ended = True
        return held


__all__ = ["Foreseen", "SharedGraphs"]
