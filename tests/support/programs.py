"""Programs: of one call, made by hand, and those that a body gives when it is recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from autotest import dual_tensor
from dual_object.adapters.torch.adapter import Adapter
from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.values import Ref
from dual_object.record.recording import Recording, current_recording
from dual_object.replay.observation import Observation
from generators import Nothing


def one_call(
    op: str = "relu", values: Any = (-1.5, 0.1, 2.0), *, dtype: str = "float32", backward: bool = False, **fields: Any
) -> Program:
    """`t0 = torch.<op>(x)`; `backward`: with a cotangent of ones. The fields are those of the input."""
    data = np.array(values, dtype)
    x = Input(0, "", data, dtype, backward, **fields)
    call = Call("function", op, (Ref(0),), {}, out=Ref(1))
    return Program([x], [call], Ref(1), {1: np.ones_like(data)} if backward else {})


def given(*values: Any, dtype: str = "float32", grad: bool = False) -> Any:
    """An input of these values."""
    return dual_tensor(torch.tensor(values, dtype=getattr(torch, dtype), requires_grad=grad))


def recorded(reference: Adapter, body: Callable[[], Any], *, twice: bool = False) -> tuple[Program, Observation]:
    """A body's Program with cotangents of one, and what the reference shows; `twice`: second derivatives as well."""
    recording = Recording(reference, draw_state=lambda name, data: data, omitted=Nothing, target="torch")
    token = current_recording.set(recording)
    try:
        returned = body()
    finally:
        current_recording.reset(token)
    program = recording.program
    program.outputs = recording.returned(returned)
    for id_ in recording.differentiable():
        dtype, shape, _, _ = reference.describe(recording.values.by_id[id_])
        program.cotangents[id_] = np.ones(shape, dtype)
    seen = recording.finish((lambda dtype, shape: np.ones(shape, dtype)) if twice else None)
    recording.release()
    return program, seen
