"""The inputs of a Program as lines of Python, for people."""

from __future__ import annotations

from typing import Any

import numpy as np

from dual_object.program.calls import Input
from dual_object.program.printing import names
from dual_object.program.program import Program

#: Values are told up to so many elements.
MOST_TOLD = 64


def input_lines(program: Program) -> list[str]:
    """The inputs as Python, if they have few elements; else their dtypes and shapes."""
    spelled = names(program)
    few = sum(x.data.size for x in program.inputs) <= MOST_TOLD
    return [
        f"{spelled[x.id]} = {_tensor(x) if few else f'a {x.dtype} tensor of {x.data.shape}'}" for x in program.inputs
    ]


def _tensor(x: Input) -> str:
    dtype = f"dtype=torch.{x.dtype}"
    grad = ", requires_grad=True" if x.requires_grad else ""
    if not x.data.size:
        return f"torch.empty({x.data.shape}, {dtype}{grad})"
    return f"torch.tensor({_literal(x.data.tolist())}, {dtype}{grad})"


def _literal(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_literal(part) for part in value)}]"
    if isinstance(value, float) and not np.isfinite(value):
        return f'float("{value}")'
    return repr(value)


__all__ = ["input_lines"]
