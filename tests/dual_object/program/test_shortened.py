"""Shorter Programs of a training: what one batch of a later step computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dual_object.program.shortened import first_forward, later_forward
from dual_object.record.namespace import torch
from dual_object.record.recording import Recording
from dual_object.replay.adapter import load_reference
from dual_object.replay.replay import Replay
from support.trainings import batch, recorded


@pytest.mark.parametrize("accumulate", [1, 2])
def test_later_forward(accumulate: int) -> None:
    """On the parameters that a step begins with it computes what the step does, batch by batch."""

    def body(recording: Recording) -> Any:
        layer = torch.nn.Linear(2, 1)
        torch.optim.SGD(torch.nn.Sequential(layer).parameters(), lr=0.1)
        return torch.square(layer(batch(recording))).mean()

    program = recorded(body, 3, accumulate)
    assert program.training is not None
    whole = Replay(load_reference(), program, side="reference").run().outputs
    first = first_forward(program)
    for number in (2, 3):
        before = program.training.steps[number - 2].parts[-1].values
        state = {of.leaf: whole[id_].data for id_, of in before.items()}
        for place, (loss,) in enumerate(program.training.returned(program.training.steps[number - 1])):
            forward = later_forward(program, number, place, state)
            assert (forward.training, forward.outputs) == (None, first.outputs)
            assert [x.id for x in forward.inputs] == [x.id for x in first.inputs]
            [seen] = Replay(load_reference(), forward, side="reference").run().outputs.values()
            np.testing.assert_array_equal(seen.data, whole[loss].data)
