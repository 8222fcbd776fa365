"""A target for the judge's tests: it answers in this process, and shows what a test says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autotest.cases.case import Case
from autotest.judge.judge import Judge
from autotest.judge.judgement import Judgement
from autotest.options import TestOptions
from dual_object.adapters.torch.adapter import Adapter
from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.values import Ref
from dual_object.replay.adapter import TargetInfo
from dual_object.replay.observation import Observation
from dual_object.replay.replay import Replay

#: What a target's graph gives for each Program that it is asked for, by what eager gives for it.
Graph = Callable[[Sequence[Observation]], Any]


class Pretended:
    """A target that computes as PyTorch does, and then shows what `eager` and `graph` make of it."""

    def __init__(self, eager: Callable[[Observation, Program], Any], graph: Graph) -> None:
        self._eager = eager
        self._graph = graph
        self.graphs: list[int] = []

    def info(self) -> TargetInfo:
        """It can do nothing that not every target can."""
        return TargetInfo("pretended", {}, ("cpu",), ("float32",))

    def eager(self, programs: Sequence[Program]) -> list[Any]:
        """What each Program shows."""
        return [self._eager(_run(program), program) for program in programs]

    def graph(self, programs: Sequence[Program], gradients: Any, again: Any = None) -> Any:
        """What their one graph shows; how many there were is kept."""
        self.graphs.append(len(programs))
        return self._graph([_run(program) for program in programs])


def _run(program: Program) -> Observation:
    return Replay(Adapter(), program).run()


def sound(seen: Observation, program: Program) -> Observation:
    """The target computes as PyTorch does."""
    return seen


def same(seen: Sequence[Observation]) -> Any:
    """The graph gives what eager gives."""
    return list(seen)


def off(seen: Observation) -> Observation:
    """Every output is one more than it should be."""
    outputs = {id_: replace(one, data=one.data + 1) for id_, one in seen.outputs.items()}
    return replace(seen, outputs=outputs)


def program(*ops: str) -> Program:
    """These functions, one after the other, of two numbers."""
    x = Input(0, "", np.array([0.3, 0.7], np.float32), "float32")
    return Program(
        [x], [Call("function", op, (Ref(i),), {}, out=Ref(i + 1)) for i, op in enumerate(ops)], Ref(len(ops))
    )


def judged(target: Pretended, *programs: Program, **options: Any) -> list[Judgement]:
    """What comes of these Programs on a target, in a test with these options."""
    reference = Adapter()
    judge = Judge(reference, target, TestOptions(n=1, **options))
    judgements = [
        Judgement(Case(index, f"test#{index}", each, Replay(reference, each, side="reference").run()), 0.0)
        for index, each in enumerate(programs)
    ]
    judge.judge(judgements, target.eager(programs))
    return judgements
