"""Batches: whether what a training is wrong by comes of the gradients of several batches, which it accumulates.

Nothing shows those of a graph but its update. So each side is run once more with one backward of all batches of a step:
what it accumulates there is nothing, and all else is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from autotest.compare.difference import Difference, Rules
from autotest.compare.training import step_of
from autotest.judge.blame import clipping
from autotest.judge.blame.otherwise import Agreed, left
from autotest.workers.protocol import Target
from dual_object.program.at_once import at_once
from dual_object.program.program import Program
from dual_object.program.shortened import truncated
from dual_object.replay.adapter import Adapter

#: What is blamed, which is no op of its own; and what the message of such a difference says besides.
NAME, WORDS = "accumulate", "; with one backward of all batches nothing differs"


def by_batches(
    reference: Adapter,
    target: Target,
    program: Program,
    differences: Sequence[Difference],
    rules: Rules,
    *,
    graph: bool,
    agreed: Agreed,
) -> Sequence[Difference]:
    """The differences of a training. Those that may come of what it accumulates are blamed on that where none is left
    with one backward of all batches; they are as they were where some is, or the target fails so.
    """
    training = program.training
    assert training is not None, "it trains"
    steps = [_shows(program, difference, graph=graph) if training.accumulate > 1 else 0 for difference in differences]
    first = next(filter(None, steps), None)
    if first is None:
        return differences
    other = at_once(truncated(program, first))
    found = left(reference, target, program, other, rules, "one backward of all batches", graph=graph, agreed=agreed)
    if found is None or found:
        return differences

    def settled(difference: Difference, number: int) -> Difference:
        _, backward, *_ = training.steps[number - 1].parts
        return replace(difference, call=backward.call, blamed=NAME, message=f"{difference.message}{WORDS}")

    return [
        settled(difference, number) if number else difference
        for difference, number in zip(differences, steps, strict=True)
    ]


def _shows(program: Program, difference: Difference, *, graph: bool) -> int:
    """The number of the step in which gradients were accumulated that a difference may come of; 0 where it comes of
    something else.
    """
    training = program.training
    assert training is not None, "it trains"
    if not difference.key or difference.part == "buffer" or difference.message.endswith(clipping.WORDS):
        return 0
    number, part = step_of(program, difference)
    if part is None:
        return 0
    if not graph:
        cleared = difference.call is not None and program.calls[difference.call].op == "zero_grad"
        return number if part.name == "backward" and not cleared else 0
    if part.name == "update":
        return number
    before = training.steps[number - 2].parts if number > 1 else ()
    # What follows an update that has drifted is blamed on it.
    return number - 1 if any(one.name == "update" and one.call == difference.call for one in before) else 0


__all__ = ["NAME", "WORDS", "by_batches"]
