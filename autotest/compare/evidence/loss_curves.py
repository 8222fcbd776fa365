"""The losses of a training on each side, step by step, and the first step and tensor in which the sides part."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType
from typing import TypeAlias

from autotest.compare.difference import Difference
from autotest.compare.evidence.evidence import Sides
from autotest.compare.kinds import in_graph
from autotest.compare.training import step_of
from autotest.compare.values import short
from dual_object.program.program import Program
from dual_object.program.training import StepPart
from dual_object.replay.observation import Observation, Seen

#: A number; as text where JSON has none for it, such as `nan`; None where a side shows none.
Loss: TypeAlias = "float | str | None"

_WHEN: MappingProxyType[StepPart, str] = MappingProxyType(
    {
        "forward": "in the forward",
        "backward": "in the backward",
        "clip": "after the clipping",
        "start": "before the first update",
        "update": "after the update",
        "scale": "after the scaler's update",
        "schedule": "after the schedule",
    }
)
#: How a difference says when: ` after step 2`, ` at batch 1 of step 2`.
_WHERE = re.compile(r" (?:at|after) (?:(batch \d+) of )?step \d+$")


@dataclass(frozen=True, slots=True)
class Trained:
    """A training in which something diverged.

    Attributes:
        program: all of its steps, though fewer may show the divergence.
        sides: what each side showed of them.
        first: the first difference.
    """

    program: Program
    sides: Sides
    first: Difference


def loss_curves(trained: Trained) -> dict[str, object] | None:
    """The losses of each side, one for each step, or None where it shows none at all; the first step that parts and
    what parts in it; and in words what a drawing does not tell. None where losses are random: none can be compared.

    The loss of a step that has several batches is the mean of theirs.
    """
    program, sides, first = trained.program, trained.sides, trained.first
    assert program.training is not None, "it trains"
    ids = program.training.losses()
    if program.random is not None and not program.random.values.isdisjoint(id_ for batches in ids for id_ in batches):
        return None
    wanted = {"reference": sides.reference, "eager": sides.eager}
    if sides.graph is not None or in_graph(first.phase):
        wanted["graph"] = sides.graph
    seen = {name: [_seen(side, batches) for batches in ids] for name, side in wanted.items()}
    curves = {name: [_loss(tensors) for tensors in steps] for name, steps in seen.items()}
    return {
        **{name: _curve(curves.get(name, ())) for name in ("reference", "eager", "graph")},
        "parting": parting(program, first),
        "words": [sentence for name in seen for sentence in _words(name, curves[name], seen)],
    }


def parting(program: Program, first: Difference) -> dict[str, object] | None:
    """The step of a training's first difference, counted from 1, and where in it what parts: `at step 3, after the
    update: parameter m0.weight`. None where that is not known.
    """
    training = program.training
    assert training is not None, "it trains"
    if first.kind == "random" or (first.call is None and not first.key):
        return None
    number, part = step_of(program, first)
    what = _WHERE.sub(lambda match: f" of {match[1]}" if match[1] else "", first.where)
    if not first.key:  # a call that failed
        what = first.message if first.where == "the program" else what
        if first.call is not None and first.call < training.start:
            return {"step": 1, "words": f"before step 1: {what}"}
    elif part is not None and first.part == "output" and part.values[int(first.key)].what == "parameter":
        what = f"parameter {what}"
    when = "at the end" if part is None else _WHEN[part.name]
    return {"step": number, "words": f"at step {number}, {when}: {what}"}


def _seen(side: Observation | None, ids: Sequence[int]) -> list[Seen | None]:
    return [None if side is None else side.outputs.get(id_) for id_ in ids]


def _loss(tensors: Sequence[Seen | None]) -> Loss:
    numbers = [float(short(one.data.reshape(-1)[0])) for one in tensors if one is not None and one.data.size == 1]
    if len(numbers) < len(tensors):
        return None
    loss = sum(numbers) / len(numbers)
    return loss if math.isfinite(loss) else str(loss)


def _curve(losses: Sequence[Loss]) -> list[Loss] | None:
    return list(losses) if any(loss is not None for loss in losses) else None


def _words(name: str, losses: Sequence[Loss], seen: Mapping[str, Sequence[Sequence[Seen | None]]]) -> Iterator[str]:
    """Which of a side's losses are missing or not finite, and the dtype that they have otherwise than the reference."""
    for what, always, found in (
        ("no loss", "any", [loss is None for loss in losses]),
        ("a loss that is not finite", "every", [isinstance(loss, str) for loss in losses]),
    ):
        if any(found):
            steps = f"of {len(found)} steps, first in step {found.index(True) + 1}"
            yield f"{name}: {what} in {always} step" if all(found) else f"{name}: {what} in {sum(found)} {steps}"
    for wanted, given in zip(chain(*seen["reference"]), chain(*seen[name]), strict=True):
        if wanted is not None and given is not None and wanted.dtype != given.dtype:
            yield f"{name}: losses are {given.dtype}, but {wanted.dtype} on the reference"
            return


__all__ = ["Loss", "Trained", "loss_curves", "parting"]
