"""A Program that trains on the batches of a step at once, in place of one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dual_object.program.calls import Call
from dual_object.program.program import Program
from dual_object.program.training import Part, Step
from dual_object.program.values import Ref


def at_once(program: Program) -> Program:
    """The same training with one backward in each step: of the mean of its batches' losses, in place of one of each
    batch's share of it. It accumulates nothing.

    It does not say what of it is random.
    """
    training = program.training
    assert training is not None, "it trains"
    free = program.free()
    calls, steps = program.calls[: training.start], list[Step]()
    loss = forward = 0
    begin = training.start
    for step in training.steps:
        _, backward, *_ = step.parts
        assert backward.call is not None, "it is a call of its own"
        forwards, (share, *others), cleared = _parted(program.calls[begin : backward.call + 1])
        calls += forwards
        total, *rest = (batch[0] for batch in training.returned(step))
        for other in rest:
            added, total = total, next(free)
            calls.append(Call("operator", "add", (Ref(added), Ref(other)), {}, Ref(total)))
        calls.append(replace(share, args=(Ref(total), *share.args[1:])))
        if not steps:
            [loss], forward = share.results(), len(calls)
        calls += [*cleared, *others]
        # What comes after the backward is as it was, elsewhere.
        further = len(calls) - (backward.call + 1)
        calls += program.calls[backward.call + 1 : step.end]
        steps.append(Step(step.inputs, len(calls), tuple(_moved(part, further, begin) for part in step.parts)))
        begin = step.end
    kept = replace(training, loss=loss, forward=forward, steps=tuple(steps), accumulate=1)
    return replace(program, calls=calls, training=kept, random=None)


def _parted(calls: Sequence[Call]) -> tuple[list[Call], list[Call], list[Call]]:
    """The calls up to the last backward of a step: those of the forwards; those of that backward: its batch's share of
    the loss, what a scaler makes of it, and itself; and those that clear the gradients.
    """
    forwards = list[Call]()
    starts = list[list[Call]]()  # of the backwards, the last one first
    wanted: set[int] = set()
    for call in reversed(calls):
        if call.op == "backward":
            starts.append([call])
            wanted = {*call.operands()}
        elif wanted.intersection(call.results()):
            starts[-1].insert(0, call)
            wanted = {*call.operands()} if call.op == "scale" else set()
        elif call.op != "zero_grad":
            forwards.insert(0, call)
    return forwards, starts[0], [call for call in calls if call.op == "zero_grad"]


def _moved(part: Part, further: int, begin: int) -> Part:
    """A part whose calls are elsewhere; what a schedule starts with was set by the call that has made it."""
    call = part.call
    if call is not None and call >= begin:
        call += further
    return replace(part, call=call, hosts=tuple(index + further for index in part.hosts))


__all__ = ["at_once"]
