"""The second call of a static graph: the same compiled graph, other values.

What a graph has taken from its first call (a value that became a constant, a result that it gives again, a state that
it no longer carries on) shows at its second.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dual_object.program.calls import Input
from dual_object.program.program import Program
from dual_object.program.values import Array
from dual_object.replay.adapter import Adapter
from dual_object.replay.observation import Observation
from dual_object.replay.replay import Replay

#: Floats are scaled by this: it keeps sign, order, zeros and the domains of all ops but acosh, and is no sum of few
#: powers of two, so that no half-way value comes of it.
SCALE = 0.7071


@dataclass(frozen=True, slots=True)
class SecondCall:
    """A Program as the second call of its graph meets it, and what the reference shows for that: other input values,
    and modules in the state in which the first call left them.
    """

    program: Program
    reference: Observation

    @property
    def arrays(self) -> list[Array]:
        """The values of the inputs, in order."""
        return [x.data for x in self.program.inputs]


def second_call(reference: Adapter, program: Program, first: Observation) -> SecondCall | str:
    """The second call of `program`, for which the reference has shown `first`; or why there is none."""
    if program.inline is not None:
        return program.inline
    if program.training is not None:
        return "each of its steps is another call of the graph"
    inputs = other_inputs(program.inputs)
    if all(x.data.tobytes() == old.data.tobytes() for x, old in zip(inputs, program.inputs, strict=True)):
        return "its inputs have no other values"
    calls = list(program.calls)
    for index, call in enumerate(calls):
        if call.state:
            [made] = call.results()
            left = {name: first.buffers.get(f"{made}.{name}") for name in call.state}
            state = {
                name: array if (reading := left[name]) is None else reading.data for name, array in call.state.items()
            }
            calls[index] = dataclasses.replace(call, state=state)
    again = dataclasses.replace(program, inputs=inputs, calls=calls)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # told when the body ran
        replay = Replay(reference, again, side="reference")
        observation = replay.run()
    if observation.ended or observation.backward_failure is not None:
        return "PyTorch refuses its second values"
    if observation.hosts.keys() - (program.random.hosts if program.random else ()):
        return "the body reads values that the second values change"
    if _changes_a_parameter(reference, replay):
        return "the body changes a parameter"
    return SecondCall(again, observation)


def _changes_a_parameter(reference: Adapter, replay: Replay) -> bool:
    for call in replay.program.modules():
        if not call.state:  # it has no parameters, or the reference refuses to make it
            continue
        [made] = call.results()
        module = replay.values.modules.get(made)
        if module is None:
            continue
        parameters = reference.parameters(module)
        kept = [name for name in call.state if name in parameters]
        now = reference.read([parameters[name] for name in kept])
        if any(array.tobytes() != call.state[name].tobytes() for name, array in zip(kept, now, strict=True)):
            return True
    return False


def other_inputs(inputs: Sequence[Input], turn: int = 1) -> list[Input]:
    """Inputs like these with other values, on which every op of the Program still means something.

    A tensor's values are moved by one place along its last dimension, and floats are scaled: [0.2, -1.5, 3.1] becomes
    [2.19, 0.14, -1.06]. But:

        - what has an order that an op may rely on (sorted, triangular, symmetric) is not moved;
        - floats that are whole numbers, labels and counts for instance, are not scaled;
        - elements of an integer input may belong to those of other inputs of its shape, as the indices of
          `max_unpool2d` belong to its values: all inputs of that shape are moved, or none.

    Each further `turn` moves them on by a place; every second one leaves floats unscaled.
    """
    ordered = [_ordered(x.data) for x in inputs]
    shapes = {x.data.shape for x in inputs if x.data.dtype.kind in "iu"}
    still = {x.data.shape for x, keeps in zip(inputs, ordered, strict=True) if keeps} & shapes
    return [
        dataclasses.replace(
            x, data=_other_values(x, 0 if keeps or x.data.shape in still else turn, scale=turn % 2 == 1)
        )
        for x, keeps in zip(inputs, ordered, strict=True)
    ]


def _other_values(x: Input, places: int, *, scale: bool) -> Array:
    data = x.data
    if not data.size:
        return data
    if data.dtype.kind in "fc":
        with np.errstate(invalid="ignore"):
            whole = bool((data == np.round(data)).all())
        other = np.asarray(data * SCALE, dtype=data.dtype) if scale and not whole else data
        if x.dtype == "bfloat16":
            other = (other.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    else:
        other = data
    return np.ascontiguousarray(_rolled(other, places)) if places else other


def _rolled(data: Array, places: int) -> Array:
    """Moved along the last dimension; what goes round it once moves by a place along the dimension before, and so on:
    so three places of a tensor of (4, 2) are one along the last and one along the first dimension.
    """
    dim = _moved(data)
    while places and dim >= 0:
        size = data.shape[dim]
        data = np.roll(data, places % size, dim) if size > 1 else data
        places //= max(size, 1)
        dim -= 1
    return data


def _moved(data: Array) -> int:
    """The last dimension along which there is something to move."""
    return max((dim for dim, size in enumerate(data.shape) if size > 1), default=-1)


def _ordered(data: Array) -> bool:
    if data.ndim == 0 or data.size == 1:
        return True
    if data.dtype.kind in "fiu":
        along = np.moveaxis(data, _moved(data), -1)
        if (along[..., 1:] >= along[..., :-1]).all() or (along[..., 1:] <= along[..., :-1]).all():
            return True
    if data.ndim < 2 or data.shape[-1] != data.shape[-2]:
        return False
    turned = np.swapaxes(data, -1, -2)
    with np.errstate(invalid="ignore", over="ignore"):
        symmetric = bool(np.allclose(data, turned.conj()))
    return symmetric or not np.triu(data, 1).any() or not np.tril(data, -1).any()


def place_again(adapter: Adapter, program: Program, arrays: Sequence[Array]) -> Replay:
    """The inputs of `program` with other values, placed; the replay must live as long as its tensors."""
    replay = Replay(adapter, Program())
    for x, array in zip(program.inputs, arrays, strict=True):
        replay.place(dataclasses.replace(x, data=array, requires_grad=False))
    return replay


__all__ = ["SecondCall", "other_inputs", "place_again", "second_call"]
