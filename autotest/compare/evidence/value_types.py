"""What each tensor of a Program is on the reference: its dtype and shape."""

from __future__ import annotations

from collections.abc import Sequence

from dual_object.program.program import Program
from dual_object.replay.adapter import Reference
from dual_object.replay.replay import Replay


def value_types(reference: Reference, program: Program) -> dict[int, str]:
    """By its number what a tensor is when it is made, `float32[2, 3]`, as far as the reference runs the Program.

    Of a Program that only a replay in the test's own process can run, and of a training, it tells the inputs alone.
    """
    types = {x.id: _spelled(x.dtype, x.data.shape) for x in program.inputs}
    if program.inline is not None or program.training is not None:
        return types
    replay = Replay(reference, program, side="reference")
    replay.advance(0)
    for index, call in enumerate(program.calls):
        replay.step(index, call)
        for id_ in call.results():
            value = replay.values.by_id.get(id_)
            if isinstance(value, reference.tensor_type):
                dtype, shape, *_ = reference.describe(value)
                types[id_] = _spelled(dtype, shape)
    replay.finish()
    return types


def _spelled(dtype: str, shape: Sequence[int]) -> str:
    return f"{dtype}[{', '.join(map(str, shape))}]"


__all__ = ["value_types"]
