"""Where a training that accumulates is wrong, that is blamed if it is right with one backward of all batches."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from autotest.compare.difference import Rules
from autotest.compare.divergence import Divergence
from autotest.compare.evidence.evidence import Sides
from autotest.compare.observations import compare
from autotest.judge.blame.batches import NAME, WORDS
from autotest.judge.blame.localization import localize
from autotest.workers.protocol import Death
from dual_object.program.program import Program
from dual_object.record.namespace import torch
from dual_object.record.recording import Recording
from dual_object.replay.adapter import load_reference
from dual_object.replay.observation import Observation
from dual_object.replay.replay import Replay
from support.trainings import Planted, batch, recorded

Change = Callable[[Program, Observation], Any]
DIED = Death("crash", "died", 0, None, "")


def sound(program: Program, shown: Observation) -> Observation:
    """As PyTorch."""
    return shown


def moved(step: int, part: str, what: str, by: float = 1.0) -> Change:
    """Adds to the first value of that name in a part of a step."""

    def change(program: Program, shown: Observation) -> Observation:
        assert program.training is not None
        parts = program.training.steps[step - 1].parts
        [chosen, *_] = [id_ for one in parts if one.name == part for id_, of in one.values.items() if of.what == what]
        seen = shown.outputs[chosen]
        shown.outputs[chosen] = replace(seen, data=seen.data + np.float32(by))
        return shown

    return change


def kept(program: Program, shown: Observation) -> Observation:
    """Adds the gradients of the first step to those of the second."""
    assert program.training is not None
    first, second = (part.values for step in program.training.steps for part in step.parts if part.name == "backward")
    for before, after in zip(first, second, strict=True):
        shown.outputs[after] = replace(
            shown.outputs[after], data=shown.outputs[after].data + shown.outputs[before].data
        )
    return shown


def body(recording: Recording, *, clips: bool = False) -> Any:
    """The loss of a layer."""
    layer = torch.nn.Linear(2, 1)
    torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)
    loss = torch.square(layer(batch(recording))).mean()
    if clips:
        torch.nn.utils.clip_grad_norm_(layer.parameters(), 0.1)
    return loss


def localized(
    *changes: Change, then: Change = sound, accumulate: int = 2, graph: bool = True, clips: bool = False
) -> tuple[list[Divergence], list[Program]]:
    """What a target with these changes is told by, and the Programs that it was asked then."""
    reference, rules = load_reference(), Rules()
    program = recorded(lambda recording: body(recording, clips=clips), 2, accumulate)
    expected = Replay(reference, program, side="reference").run()
    shown = copy.deepcopy(expected)
    for change in changes:
        change(program, shown)
    target: Any = Planted(then) if graph else PlantedEagerly(then)
    found = compare(program, expected, shown, rules, graph=graph)
    sides = Sides(expected, expected, shown) if graph else Sides(expected, shown)
    return localize(reference, target, program, found, rules, sides, graph=graph), target.asked


class PlantedEagerly:
    """A target that shows what PyTorch shows, that of trainings changed by `then`."""

    def __init__(self, then: Change) -> None:
        self._then = then
        self.asked: list[Program] = []

    def eager(self, programs: list[Program]) -> list[Any]:
        """What each Program shows."""
        self.asked += [program for program in programs if program.training is not None]
        shown = [Replay(load_reference(), program, side="reference").run() for program in programs]
        pairs = zip(programs, shown, strict=True)
        return [seen if program.training is None else self._then(program, seen) for program, seen in pairs]


def blamed(*changes: Change, **options: Any) -> tuple[str, bool, int]:
    """What is blamed, whether the message tells of all batches, and how often the target was asked again."""
    [told, *_], asked = localized(*changes, **options)
    assert all(one.training is not None and one.training.accumulate == 1 for one in asked)
    return told.op, told.difference.message.endswith(WORDS), len(asked)


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("what", ["parameter", "momentum_buffer"])
def test_update(step: int, what: str) -> None:
    """A graph's update is asked again, once, with as few steps as show it; not where nothing accumulates."""
    wrong = moved(step, "update", what)
    assert blamed(wrong) == (NAME, True, 1)
    assert blamed(wrong, then=wrong) == ("SGD", False, 1)
    assert blamed(wrong, accumulate=1) == ("SGD", False, 0)
    [told, *_], [asked] = localized(wrong)
    assert asked.training is not None
    assert len(asked.training.steps) == step
    assert told.call is not None
    assert told.program.calls[told.call].op == "backward"


def test_what_follows() -> None:
    """A loss that comes of an update that has drifted is blamed as the update is; another loss is not asked about."""
    drift, loss = moved(1, "update", "parameter", 1e-6), moved(2, "forward", "loss")
    assert blamed(drift, loss) == (NAME, True, 1)
    assert blamed(loss) == ("program", False, 0)


def test_eager() -> None:
    """Gradients of the eager target are asked about, and its update is not, which shows nothing of them."""
    wrong = moved(1, "backward", "gradient")
    assert blamed(wrong, graph=False) == (NAME, True, 1)
    assert blamed(wrong, graph=False, then=lambda program, shown: DIED) == ("backward", False, 1)
    assert blamed(moved(1, "update", "parameter"), graph=False) == ("SGD", False, 0)


def test_gradients_that_are_kept() -> None:
    """What was not cleared is no fault of what is accumulated."""
    assert blamed(kept, graph=False) == ("zero_grad", False, 0)


def test_clipped() -> None:
    """What the clipping is to blame for is not asked about again."""
    [told, *_], [asked] = localized(moved(1, "update", "parameter"), clips=True)
    assert asked.training is not None
    assert (told.op, asked.training.accumulate) == ("clip_grad_norm_", 2)


@pytest.mark.parametrize("answer", [DIED])
def test_no_answer(answer: Any) -> None:
    """Where the target says nothing of all batches at once, nothing is said of it."""
    assert blamed(moved(1, "update", "parameter"), then=lambda program, shown: answer) == ("SGD", False, 1)
