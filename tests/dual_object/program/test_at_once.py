"""A training on all batches of a step at once: what it shows, and that it accumulates nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dual_object.program.at_once import at_once
from dual_object.program.program import Program
from dual_object.record.namespace import torch
from dual_object.record.recording import Recording
from dual_object.replay.adapter import load_reference
from dual_object.replay.observation import Observation
from dual_object.replay.replay import Replay
from support.trainings import batch, recorded


def trained(*, scaler: bool = False, divided: bool = False) -> Program:
    """Two steps of three batches, with a schedule, clipping and a state; its loss may be divided as shares are."""

    def body(recording: Recording) -> Any:
        layer = torch.nn.Linear(2, 2)
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)
        torch.optim.lr_scheduler.StepLR(optimizer, step_size=1)
        if scaler:
            torch.amp.GradScaler("cpu", init_scale=8.0)
        y = layer(batch(recording))
        loss = torch.square(y).mean()
        torch.nn.utils.clip_grad_norm_(layer.parameters(), 0.1)
        return (loss / 3, y, loss / 3 / 3) if divided else (loss, y)

    return recorded(body, 2, 3)


def shown(program: Program) -> Observation:
    """What PyTorch shows."""
    return Replay(load_reference(), program, side="reference").run()


@pytest.mark.parametrize("scaler", [False, True])
@pytest.mark.parametrize("divided", [False, True])
def test_trains_alike(*, scaler: bool, divided: bool) -> None:
    """It shows what the training shows that accumulates, under the same numbers."""
    program = trained(scaler=scaler, divided=divided)
    one, other = shown(program), shown(at_once(program))
    assert not other.failures
    assert other.outputs.keys() == one.outputs.keys() == {*program.training.shown()}  # type: ignore[union-attr]
    for id_, seen in one.outputs.items():
        np.testing.assert_allclose(other.outputs[id_].data, seen.data, rtol=1e-5, atol=1e-7)
    assert other.hosts == one.hosts


@pytest.mark.parametrize("scaler", [False, True])
def test_one_backward(*, scaler: bool) -> None:
    """Each step has one backward, of the mean of its losses, and clears the gradients once."""
    program = at_once(trained(scaler=scaler))
    training = program.training
    assert training is not None
    assert training.accumulate == 1
    begin = training.start
    for step in training.steps:
        ops = [call.op for call in program.calls[begin : step.end]]
        scaled = ["scale"] if scaler else []
        place = ops.index("backward")
        assert ops[place - 4 - len(scaled) : place] == ["add", "add", "truediv", "zero_grad", *scaled]
        assert (ops.count("backward"), ops.count("zero_grad"), ops.count("truediv")) == (1, 1, 1)
        begin = step.end
    assert program.calls[training.forward - 1].results() == [training.loss]


def test_parts() -> None:
    """Each part has its call and its looks where these are now."""
    program = at_once(trained(scaler=True))
    assert program.training is not None
    for number, step in enumerate(program.training.steps):
        found = {
            part.name: (
                part.call and program.calls[part.call].op.rpartition(".")[2],
                [program.calls[index].op for index in part.hosts],
            )
            for part in step.parts
        }
        start = {} if number else {"start": ("StepLR", ["rates"])}
        assert found == start | {
            "forward": (None, []),
            "backward": ("backward", []),
            "clip": ("clip_grad_norm_", []),
            "update": ("step", []),
            "scale": ("update", ["get_scale"]),
            "schedule": ("step", ["rates"]),
        }
