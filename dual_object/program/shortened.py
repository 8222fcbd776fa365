"""Shorter Programs of one that trains."""

from __future__ import annotations

from dataclasses import replace

from dual_object.program.data_parallel import part_of, unwrapped
from dual_object.program.global_layouts import own_rank
from dual_object.program.program import Program
from dual_object.program.values import Ref


def truncated(program: Program, steps: int) -> Program:
    """The first steps of a Program that trains."""
    training = program.training
    assert training is not None, "it trains"
    kept = replace(training, steps=training.steps[:steps])
    dropped = {id_ for step in training.steps[steps:] for id_ in step.inputs}
    return replace(
        program,
        inputs=[x for x in program.inputs if x.id not in dropped],
        calls=program.calls[: kept.steps[-1].end],
        outputs=tuple(map(Ref, kept.shown())),
        training=kept,
    )


def first_forward(program: Program) -> Program:
    """What the first step computes, as a Program that differentiates its loss, once its cotangents are set.

    Of a training whose batches several ranks share, what this rank computes of its part, by itself.
    """
    training = program.training
    assert training is not None, "it trains"
    first, *_ = training.steps
    own = {*training.batches(first)[0]}
    later = {id_ for step in training.steps for id_ in step.inputs if id_ not in own}
    inputs = [part_of(x, program, own_rank()) for x in program.inputs if x.id not in later]
    calls, outputs = program.calls[: training.forward], tuple(map(Ref, training.returned(first)[0]))
    return unwrapped(replace(program, inputs=inputs, calls=calls, outputs=outputs, training=None))


__all__ = ["first_forward", "truncated"]
