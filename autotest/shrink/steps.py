"""Single steps of a reduction: each function gives Programs that are a little simpler than the given one.

Every candidate is simpler in an order that cannot be climbed for ever (fewer elements, smaller numbers, fewer
arguments), so taking them one after the other ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.shortened import truncated
from dual_object.program.training import makes_scaler, prepares
from dual_object.program.values import Array, Ref, Tree, map_leaves, refs

#: A Program with at most so many elements is simplified element by element.
FEW = 16
#: Integers up to this size are small.
SMALL = 4

Window = Callable[[int], slice]
#: What is kept of a dimension, the boldest first: one element, then halves, then all but one.
_WINDOWS: tuple[Window, ...] = (
    lambda n: slice(0, 1),
    lambda n: slice(n - 1, n),
    lambda n: slice(0, (n + 1) // 2),
    lambda n: slice(n // 2, n),
    lambda n: slice(0, n - 1),
    lambda n: slice(1, n),
)


def fewer_steps(program: Program) -> Iterator[Program]:
    """With fewer steps of a training."""
    if program.training is not None:
        for steps in range(1, len(program.training.steps)):
            yield truncated(program, steps)


def drop_outputs(program: Program) -> Iterator[Program]:
    """With one of several outputs alone."""
    ids = list(dict.fromkeys(refs(program.outputs)))
    if len(ids) > 1:
        for id_ in ids:
            yield replace(program, outputs=Ref(id_))


def bare(program: Program) -> Iterator[Program]:
    """Without anything of a backward."""
    if program.cotangents or any(x.requires_grad for x in program.inputs):
        inputs = [replace(x, requires_grad=False) for x in program.inputs]
        yield replace(program, inputs=inputs, cotangents={})


def no_gradients(program: Program) -> Iterator[Program]:
    """Without the gradient of one input, or a backward from one output."""
    for position, x in enumerate(program.inputs):
        if x.requires_grad:
            yield _with_input(program, position, replace(x, requires_grad=False))
    if len(program.cotangents) > 1:
        for id_ in program.cotangents:
            yield replace(program, cotangents={key: value for key, value in program.cotangents.items() if key != id_})


def cut(program: Program) -> Iterator[Program]:
    """With smaller dimensions: all at once, then all those of one size, since equal sizes often belong together.

    A size is cut where it is an argument as well: with x of shape (3, 6), `Linear(6, 2)` of x becomes `Linear(3, 2)` of
    an x of shape (3, 3).
    """
    sizes = sorted({size for x in program.inputs for size in x.data.shape if size > 1}, reverse=True)
    for window in _WINDOWS:
        if sizes:
            yield _cut(program, set(sizes), window)
    for size in sizes:
        for window in _WINDOWS:
            smaller = _cut(program, {size}, window)
            kept = len(range(size)[window(size)])
            yield _renumbered(smaller, size, kept)
            yield smaller


def cut_each(program: Program) -> Iterator[Program]:
    """With one dimension of one input smaller."""
    for position, x in enumerate(program.inputs):
        for axis, size in enumerate(x.data.shape):
            for window in _WINDOWS if size > 1 else ():
                chosen = [slice(None)] * axis + [window(size)]
                yield _with_input(program, position, _sliced(x, tuple(chosen)))


def drop_axes(program: Program) -> Iterator[Program]:
    """With one dimension of size 1 less, in all inputs that have it first, then in one."""
    leading = [x for x in program.inputs if x.data.ndim > 1 and x.data.shape[0] == 1]
    if len(leading) > 1:
        yield replace(program, inputs=[_squeezed(x, 0) if first else x for x, first in _marked(program.inputs)])
    for position, x in enumerate(program.inputs):
        for axis, size in enumerate(x.data.shape):
            if size == 1:
                yield _with_input(program, position, _squeezed(x, axis))


def contiguous(program: Program) -> Iterator[Program]:
    """With plain strides at the start of its memory, then with one of both."""
    for position, x in enumerate(program.inputs):
        lying = dict.fromkeys([(None, 0), (None, x.offset), (x.strides, 0)])
        for strides, offset in lying:
            if (strides, offset) != (x.strides, x.offset):
                yield _with_input(program, position, replace(x, strides=strides, offset=offset))


def calm(program: Program) -> Iterator[Program]:
    """With zeros, ones or small integers for all values, then for those of one array."""
    for rank in range(3):
        if any(_rank(array) > rank for array in _arrays(program)):
            yield _mapped(program, partial(_calmed, rank=rank))
    count = len(list(_arrays(program)))
    for position in range(count if count > 1 else 0):
        for rank in range(3):
            if _rank(list(_arrays(program))[position]) > rank:
                yield _mapped_at(program, position, partial(_calmed, rank=rank))


def calm_elements(program: Program) -> Iterator[Program]:
    """With a simpler number for one element, where there are few."""
    arrays = list(_arrays(program))
    if sum(array.size for array in arrays) > FEW:
        return
    for position, array in enumerate(arrays):
        for element in range(array.size):
            single = array.reshape(-1)[element : element + 1]
            for rank in range(3):
                if _rank(single) > rank:
                    yield _mapped_at(program, position, _at(element, rank))


def drop_arguments(program: Program) -> Iterator[Program]:
    """Without one keyword argument, or without the last plain argument, of a call. Optimizers keep theirs: where the
    target has another default, such as AdamW's weight decay, that would show in their place.
    """
    for index, call in _changeable(program):
        if program.training is not None and prepares(call):
            continue
        for name in call.kwargs:
            yield _with_call(program, index, replace(call, kwargs={k: v for k, v in call.kwargs.items() if k != name}))
        if len(call.args) > 1 and not refs(call.args[-1]):
            yield _with_call(program, index, replace(call, args=call.args[:-1]))


def round_arguments(program: Program) -> Iterator[Program]:
    """With a simpler number in the arguments of a call. Those of what a training's steps are taken with become no 0: it
    switches off what they are for (`total_iters=0`, `lr=0.0`), and a target that is wrong then is so for other reasons.
    """
    for index, call in _changeable(program):
        leaves: list[Any] = []
        map_leaves([list(call.args), call.kwargs], leaves.append)
        off = program.training is None or not prepares(call)
        for position, leaf in enumerate(leaves):
            for simpler in _simpler(leaf) if off else filter(None, _simpler(leaf)):
                yield _with_call(program, index, _replaced(call, position, simpler))


def _changeable(program: Program) -> Iterator[tuple[int, Call]]:
    """The calls whose arguments may change, with their indices: of a training not those of a step, which are in each
    step, nor those of a scaler, which is off where it is told of no device.
    """
    start = len(program.calls) if program.training is None else program.training.start
    return ((index, call) for index, call in enumerate(program.calls[:start]) if not makes_scaler(call))


def _simpler(leaf: Any) -> list[Any]:
    if type(leaf) is int:
        return [value for value in dict.fromkeys((0, 1, leaf // 2)) if abs(value) < abs(leaf)]
    if type(leaf) is float and np.isfinite(leaf) and leaf not in (0.0, 1.0):
        return [value for value in (0.0, 1.0, float(int(leaf))) if abs(value) < abs(leaf)]
    return []


def _replaced(call: Call, position: int, value: Any) -> Call:
    count = iter(range(1 << 30))

    def leaf(original: Any) -> Any:
        return value if next(count) == position else original

    args, kwargs = map_leaves([list(call.args), call.kwargs], leaf)
    return replace(call, args=tuple(args), kwargs=kwargs)


def _renumbered(program: Program, size: int, kept: int) -> Program:
    """With `kept` for `size` wherever that is an argument; a loss stays divided by the number of its batches."""
    losses = set() if program.training is None else {id_ for step in program.training.losses() for id_ in step}

    def leaf(value: Any) -> Any:
        return kept if type(value) is int and value == size else value

    def renumber(tree: Tree) -> Tree:
        return map_leaves(tree, leaf)

    calls = [
        replace(call, args=tuple(renumber(arg) for arg in call.args), kwargs=renumber(call.kwargs))
        if losses.isdisjoint(call.operands())
        else call
        for call in program.calls
    ]
    return replace(program, calls=calls)


def _cut(program: Program, sizes: set[int], window: Window) -> Program:
    inputs = [
        _sliced(x, tuple(window(size) if size in sizes else slice(None) for size in x.data.shape))
        for x in program.inputs
    ]
    return replace(program, inputs=inputs)


def _sliced(x: Input, chosen: tuple[slice, ...]) -> Input:
    return replace(x, data=np.array(x.data[chosen], order="C"), fill=None, seed=None)


def _squeezed(x: Input, axis: int) -> Input:
    strides = None if x.strides is None else x.strides[:axis] + x.strides[axis + 1 :]
    return replace(x, data=np.squeeze(x.data, axis), strides=strides)


def _marked(inputs: list[Input]) -> Iterator[tuple[Input, bool]]:
    for x in inputs:
        yield x, x.data.ndim > 1 and x.data.shape[0] == 1


def _arrays(program: Program) -> Iterator[Array]:
    """The values of inputs, of module states and of cotangents, in that order."""
    yield from (x.data for x in program.inputs)
    for call in program.calls:
        yield from call.state.values()
    yield from program.cotangents.values()


def _mapped(program: Program, change: Callable[[Array], Array]) -> Program:
    return replace(
        program,
        inputs=[replace(x, data=change(x.data), fill=None, seed=None) for x in program.inputs],
        calls=[
            replace(call, state={name: change(array) for name, array in call.state.items()}) if call.state else call
            for call in program.calls
        ],
        cotangents={id_: change(array) for id_, array in program.cotangents.items()},
    )


def _mapped_at(program: Program, position: int, change: Callable[[Array], Array]) -> Program:
    count = iter(range(1 << 30))
    return _mapped(program, lambda array: change(array) if next(count) == position else array)


def _at(element: int, rank: int) -> Callable[[Array], Array]:
    def change(array: Array) -> Array:
        changed = array.copy()
        flat = changed.reshape(-1)
        flat[element : element + 1] = _calmed(flat[element : element + 1], rank)
        return changed

    return change


def _rank(array: Array) -> int:
    """How simple values are: 0 zeros, 1 ones, 2 small integers, 3 others."""
    if array.dtype.kind not in "biufc" or not array.size:
        return 0
    if array.dtype.kind in "fc":
        if not np.isfinite(array).all():
            return 3
        if array.dtype.kind == "f" and np.signbit(array[array == 0]).any():
            return 3
    if not array.any():
        return 0
    if (array == 1).all():
        return 1
    small = np.abs(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)) <= SMALL
    return 2 if small.all() and (array.dtype.kind in "biu" or (np.round(array) == array).all()) else 3


def _calmed(array: Array, rank: int) -> Array:
    """The values as zeros, ones or small integers."""
    if rank < 2:
        return np.full_like(array, rank)
    if array.dtype.kind == "b":
        return array
    if array.dtype.kind in "iu":
        low = 0 if array.dtype.kind == "u" else -SMALL
        return np.clip(array, low, SMALL).astype(array.dtype)
    rows = np.ascontiguousarray(array)  # of one dimension at least: NumPy makes numbers of arrays without any
    parts = rows.view(array.real.dtype) if array.dtype.kind == "c" else rows
    calmed = np.clip(np.round(np.nan_to_num(parts, nan=0.0)), -SMALL, SMALL) + 0.0
    back: Array = calmed.astype(parts.dtype).view(array.dtype).reshape(array.shape)
    return back


def _with_input(program: Program, position: int, x: Input) -> Program:
    return replace(program, inputs=[x if i == position else other for i, other in enumerate(program.inputs)])


def _with_call(program: Program, index: int, call: Call) -> Program:
    return replace(program, calls=[call if i == index else other for i, other in enumerate(program.calls)])
