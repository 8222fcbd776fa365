"""Trainings recorded without a test around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autotest.workers.protocol import Death
from dual_object.program.program import Program
from dual_object.record.recording import Recording, current_recording
from dual_object.record.training import train
from dual_object.replay.adapter import load_reference
from dual_object.replay.observation import Observation
from dual_object.replay.replay import Replay
from generators import Nothing


def recorded(body: Callable[[Any], Any], steps: int = 2, accumulate: int = 1) -> Program:
    """The Program of a body that is given the recording; every parameter starts as 0.5."""
    recording = Recording(
        load_reference(), draw_state=lambda name, data: np.full_like(data, 0.5), omitted=Nothing, trains=True
    )
    token = current_recording.set(recording)
    try:
        train(recording, body(recording), steps, accumulate)
    finally:
        current_recording.reset(token)
    return recording.program


def batch(recording: Recording) -> Any:
    """A batch of four rows."""
    data = np.array([[-1, 0.5], [2, -0.25], [0.75, 1.5], [-2, 0.125]], dtype=np.float32)
    return recording.input(data, "float32", name="x")


class Planted:
    """A target whose graph shows what PyTorch shows, `changed`; asked again, of a training that is otherwise, it shows
    `then`, and of a forward what PyTorch shows.
    """

    def __init__(self, then: Callable[[Program, Observation], Any]) -> None:
        self._then = then
        self.asked: list[Program] = []

    def eager(self, programs: Sequence[Program]) -> list[Observation | Death]:
        """As PyTorch."""
        return [Replay(load_reference(), program, side="reference").run() for program in programs]

    def graph(self, programs: Sequence[Program], gradients: Any, again: Any = None) -> Any:
        """What one Program shows that is asked again."""
        [program] = programs
        [shown] = self.eager(programs)
        if program.training is None:
            return [shown]
        self.asked.append(program)
        answer = self._then(program, shown)  # type: ignore[arg-type]  # PyTorch does not die
        return answer if isinstance(answer, Death) else [answer]
