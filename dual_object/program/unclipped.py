"""A Program that trains without clipping what the backward gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate

from dual_object.program.calls import Call
from dual_object.program.program import Program
from dual_object.program.training import Part, Step, clips
from dual_object.program.values import Ref, Tree, map_leaves


def unclipped(program: Program, factor: float = 1.0) -> Program:
    """The same training without its clipping, of which nothing is shown either. Where `factor` is not 1, what is
    differentiated is that many times each loss: so gradients may be as small as clipping makes them.

    It does not say what of it is random.
    """
    training = program.training
    assert training is not None, "it trains"
    free = program.free()
    losses = {id_: Ref(next(free)) for step in training.losses() for id_ in step} if factor != 1 else {}
    last = {id_: index for index, call in enumerate(program.calls) for id_ in call.results() if id_ in losses}

    def rewritten(index: int, call: Call) -> Iterator[Call]:
        if clips(call):
            return
        used = {id_: loss for id_, loss in losses.items() if index > last[id_]}
        yield _with(call, used) if used.keys() & {*call.operands()} else call
        yield from (
            Call("operator", "mul", (Ref(id_), factor), {}, losses[id_]) for id_ in losses if last[id_] == index
        )

    made = [[*rewritten(index, call)] for index, call in enumerate(program.calls)]
    # Where each call is now, and the end.
    places = [0, *accumulate(map(len, made))]
    steps = tuple(
        Step(step.inputs, places[step.end], tuple(_moved(part, places) for part in step.parts if part.name != "clip"))
        for step in training.steps
    )
    loss = losses[training.loss].id if losses else training.loss
    kept = replace(training, loss=loss, forward=places[training.forward], steps=steps)
    calls = [call for calls in made for call in calls]
    return replace(program, calls=calls, outputs=tuple(map(Ref, kept.shown())), training=kept, random=None)


def _with(call: Call, others: dict[int, Ref]) -> Call:
    """The call with other values in place of some."""

    def exchanged(leaf: Tree) -> Tree:
        return others.get(leaf.id, leaf) if type(leaf) is Ref else leaf

    args, kwargs = map_leaves(call.args, exchanged), map_leaves(call.kwargs, exchanged)
    return replace(call, args=args, kwargs=kwargs)


def _moved(part: Part, places: list[int]) -> Part:
    call = None if part.call is None else places[part.call]
    return replace(part, call=call, hosts=tuple(places[index] for index in part.hosts))


__all__ = ["unclipped"]
