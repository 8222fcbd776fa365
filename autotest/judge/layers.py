"""A case's layers once more, as the functions that they call: a second way of testing a target that has both.

Where a layer diverges, the function within it that does is named. Where none does, the functions are asked: a layer of
the target's own need not call them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from autotest.compare.difference import Rules
from autotest.compare.divergence import Divergence, op_of
from autotest.compare.kinds import in_graph
from autotest.judge.judge import Judge
from autotest.judge.judgement import EAGER_FAILED, VERIFIED, Check, Judgement
from autotest.judge.standalone import trial
from autotest.workers.protocol import Target
from autotest.workers.wrapped.lowered import proved
from dual_object.program.program import Program
from dual_object.record.lowered import Lowering
from dual_object.replay.adapter import Reference


class LayersJudge(Judge):
    """A judge that asks about the functions of layers, too; eagerly, where one rank alone is asked."""

    names_functions = True

    def judge_graphs(self, judgements: Sequence[Judgement], *, eager: bool = True) -> None:
        """Judge cases by what they show in graphs, and then by what the functions of their layers show."""
        super().judge_graphs(judgements, eager=eager)
        for judgement in judgements if eager else ():
            if any(judgement.case.program.modules()) and "modules" not in self.target.info().lacks:
                judgement.graph.lowered = self._judge_functions(judgement)

    def _judge_functions(self, judgement: Judgement) -> Check:
        diverges = any(not in_graph(divergence.difference.phase) for divergence in judgement.divergences)
        if judgement.sides.eager is None or judgement.unsupported is not None or diverges:
            return EAGER_FAILED
        program = judgement.case.program
        reason = _obstacle(program) if self._consensus.alone else "several ranks would have to agree on them"
        lowering = reason or proved(program, self.reference)
        if isinstance(lowering, str):
            return Check("unverified", lowering)
        found = of_functions(self.reference, self.target, program, lowering, self.options.rules)
        if found:
            self._keep(judgement, [divergence.difference for divergence in found], found)
        return VERIFIED


def _obstacle(program: Program) -> str | None:
    if program.training is not None:
        return "it trains"
    return "it draws random numbers" if program.random is not None else None


def of_functions(
    reference: Reference, target: Target, program: Program, lowering: Lowering, rules: Rules
) -> list[Divergence]:
    """How the functions diverge that the layers of a Program call: as any function does, with the layer around it."""
    told = []
    for divergence in trial(reference, target, lowering.program, rules, graph=False):
        place = lowering.place(divergence.call)
        if place is None or place.call is None or not place.within:  # a call of the body's own has been judged
            continue
        message = f"{divergence.difference.message}; within {op_of(program, place.call)}, which does not"
        told.append(replace(divergence, difference=replace(divergence.difference, message=message)))
    return told


__all__ = ["LayersJudge", "of_functions"]
