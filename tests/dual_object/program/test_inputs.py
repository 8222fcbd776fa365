"""Inputs are told as lines of Python."""

from __future__ import annotations

import numpy as np

from dual_object.program.calls import Call, Input
from dual_object.program.inputs import input_lines
from dual_object.program.program import Program
from dual_object.program.values import Ref


def test_inputs_are_python() -> None:
    """Inputs are told as the tensors they are, unless they have many elements."""
    inputs = [
        Input(0, "x", np.array([[1.5, np.nan], [-np.inf, 0.0]], np.float32), "float32", True, (1, 2)),
        Input(1, "y", np.zeros((0, 3), np.int64), "int64"),
        Input(2, "z", np.array(True), "bool"),
    ]
    program = Program(inputs, [Call("function", "stack", ([Ref(0), Ref(1), Ref(2)],), {}, out=Ref(3))], Ref(3))
    assert input_lines(program) == [
        'x = torch.tensor([[1.5, float("nan")], [float("-inf"), 0.0]], dtype=torch.float32, requires_grad=True)',
        "y = torch.empty((0, 3), dtype=torch.int64)",
        "z = torch.tensor(True, dtype=torch.bool)",
    ]
    inputs.append(Input(4, "w", np.zeros(61), "float64"))
    assert input_lines(Program(inputs, program.calls, Ref(3)))[-1] == "w = a float64 tensor of (61,)"
