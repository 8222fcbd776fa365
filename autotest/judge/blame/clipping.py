"""Clipping: whether it is to blame for what a training's graph updates otherwise.

A graph clips inside of its update, and shows what comes of both. So each side is run once more without the clipping:
where the graph is right then, the clipping was wrong. The loss is as much smaller there as the clipping has made
gradients, for an optimizer that is wrong about small gradients may be right about great ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from autotest.compare.difference import Difference, Rules
from autotest.compare.evidence.evidence import Sides
from autotest.compare.training import step_of
from autotest.judge.blame.otherwise import Agreed, left
from autotest.workers.protocol import Target
from dual_object.program.program import Program
from dual_object.program.shortened import truncated
from dual_object.program.training import Part, Step
from dual_object.program.unclipped import unclipped
from dual_object.replay.adapter import Adapter
from dual_object.replay.observation import Observation

#: What the message of a difference says besides where the clipping is to blame.
WORDS = "; without the clipping nothing differs"


@dataclass(frozen=True, slots=True)
class _Clipped:
    """An update before which gradients were clipped.

    Attributes:
        steps: how many of the training it takes to show.
        update, clip: the calls of the update, and of the clipping before it.
        factor: how many times as great that has made the gradients.
    """

    steps: int
    update: int | None
    clip: int | None
    factor: float


def by_clipping(
    reference: Adapter,
    target: Target,
    program: Program,
    differences: Sequence[Difference],
    rules: Rules,
    sides: Sides,
    *,
    agreed: Agreed,
) -> Sequence[Difference]:
    """The differences of a graph that trains. Those that come of an update before which gradients were clipped are
    blamed on the clipping where none is left without it; on what is wrong without it where something is.

    They are as they were where nothing can be said: the target fails without the clipping.
    """
    clipped = [_clipped(program, difference, sides.reference) for difference in differences]
    first = next(filter(None, clipped), None)
    if first is None:
        return differences
    shorter = truncated(program, first.steps)
    without = unclipped(shorter, first.factor)
    found = left(reference, target, program, without, rules, "without the clipping", graph=True, agreed=agreed)
    if found is None:
        return differences
    wrong = _blamed(shorter, without, found[0]) if found else None

    def settled(difference: Difference, one: _Clipped) -> Difference:
        if not found:
            return replace(difference, call=one.clip, message=f"{difference.message}{WORDS}")
        return replace(difference, call=one.update if wrong is None else wrong)

    return [
        difference if one is None else settled(difference, one)
        for difference, one in zip(differences, clipped, strict=True)
    ]


def _clipped(program: Program, difference: Difference, expected: Observation | None) -> _Clipped | None:
    """The clipped update that a difference comes of; None where it comes of no update, or of one whose optimizer gets
    gradients as the backward has given them.
    """
    training = program.training
    assert training is not None, "it trains"
    if not difference.key or difference.part == "buffer":
        return None
    steps, part = step_of(program, difference)
    if part is not None and part.name == "update":
        step, leaf = training.steps[steps - 1], part.values[int(difference.key)].leaf
    elif steps > 1:  # what follows an update that has drifted is blamed on it
        step = training.steps[steps - 2]
        part = next((one for one in step.parts if one.name == "update" and one.call == difference.call), None)
        leaf = "" if part is None else next(shown.leaf for shown in part.values.values())
    else:
        return None
    gradients = [
        (one, id_)
        for one in step.parts
        if one.name in ("backward", "clip")
        for id_, shown in one.values.items()
        if shown.leaf == leaf
    ]
    if part is None or len(gradients) < 2:
        return None
    clip, factor = _clip(step, gradients, expected)
    return _Clipped(steps, part.call, clip.call, factor)


def _clip(step: Step, gradients: Sequence[tuple[Part, int]], expected: Observation | None) -> tuple[Part, float]:
    """The clipping that has changed a parameter's gradient, the first where none has, and how many times as great the
    gradient is afterwards; 1 where that is not known, for a scaler makes that of the backward greater.

    `gradients` are the parameter's after the backward, and after each clipping.
    """
    parts = [part for part, _ in gradients]
    if expected is None:
        return parts[1], 1.0
    arrays = [expected.outputs[id_].data.astype(np.float64) for _, id_ in gradients]
    pairs = zip(parts[1:], arrays, arrays[1:], strict=False)
    clip = next((part for part, before, after in pairs if before.tobytes() != after.tobytes()), parts[1])
    with np.errstate(all="ignore"):
        factor = float(np.linalg.norm(arrays[-1]) / np.linalg.norm(arrays[0]))
    known = np.isfinite(factor) and all(part.name != "scale" for part in step.parts)
    return clip, factor if known else 1.0


def _blamed(program: Program, without: Program, difference: Difference) -> int | None:
    """The call of the Program that clips which a difference of the one that does not is blamed on, where that is no
    call of its forward or backward.
    """
    _, part = step_of(without, difference)
    if difference.call is None or part is None or part.name in ("forward", "backward"):
        return None
    blamed = without.calls[difference.call]
    return next((index for index, call in enumerate(program.calls) if call is blamed), None)


__all__ = ["WORDS", "by_clipping"]
