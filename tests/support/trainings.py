"""Trainings recorded without a test around them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dual_object.program.program import Program
from dual_object.record.recording import Recording, current_recording
from dual_object.record.training import train
from dual_object.replay.adapter import load_reference
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
