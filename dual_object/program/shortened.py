"""Shorter Programs of one that trains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dual_object.program.data_parallel import part_of, unwrapped
from dual_object.program.global_layouts import own_rank
from dual_object.program.program import Program
from dual_object.program.values import Array, Ref


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


def later_forward(program: Program, number: int, batch: int, state: Mapping[str, Array]) -> Program:
    """The same of a batch, counted from 0, of step `number`, counted from 1, with the parameters that `state` has by
    their keys. Only for a training that several ranks do not share.
    """
    training = program.training
    assert training is not None, "it trains"
    forward, by_id = first_forward(program), {x.id: x for x in program.inputs}
    first, step = training.steps[0], training.steps[number - 1]
    given = dict(zip(training.batches(first)[0], training.batches(step)[batch], strict=True))
    inputs = [
        replace(by_id[given[x.id]], id=x.id, name=x.name, requires_grad=x.requires_grad) if x.id in given else x
        for x in forward.inputs
    ]
    calls = [
        replace(call, state={name: state.get(f"{call.out.id}.{name}", data) for name, data in call.state.items()})
        if call.state and type(call.out) is Ref
        else call
        for call in forward.calls
    ]
    return replace(forward, inputs=inputs, calls=calls)


__all__ = ["first_forward", "later_forward", "truncated"]
