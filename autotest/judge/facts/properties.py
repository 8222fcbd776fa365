"""Properties: what the inputs of a Program have beyond the ordinary, and the same Program without one of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from autotest.compare.fingerprint import CLOSE, NEGATIVE, VALUES, VECTOR
from autotest.judge.facts.closeness import lies_close
from dual_object.program.calls import Input
from dual_object.program.program import Program
from dual_object.program.values import Array
from dual_object.replay.adapter import Adapter
from dual_object.replay.isolation import waves
from dual_object.replay.replay import Replay
from generators import DTYPES, fill_values
from generators.layouts import expand_values, place_layout

#: What a value can be beyond the ordinary, in the order in which it is suspected.
CLASSES = tuple(member for members in VALUES.values() for member in members)
#: From here on an integer may not be held by a float32.
GREAT = 1 << 24
#: Where activations bend and numbers are rounded in two ways: halves and integers up to here.
KINKS = 8
#: From here on a number lies farther from 0 than ordinary ones do.
FAR = 16


def properties(program: Program) -> frozenset[str]:
    """What the inputs of a Program have beyond the ordinary, such as `{"channels_last", "nan"}`: layouts, classes of
    values, `empty`, as a module's parameters may be, too, `0-dim`.
    """
    names: set[str] = set()
    for x in program.inputs:
        names.update(_properties(x))
    if _without_parameters(program):
        names.add("empty")
    return frozenset(names)


def _without_parameters(program: Program) -> bool:
    """Whether a parameter or buffer of a module has no elements, such as the weight of `nn.Linear(3, 0)`."""
    return any(array.size == 0 for call in program.modules() for array in call.state.values())


def _properties(x: Input) -> Iterator[str]:
    layout = _layout(x)
    if layout:
        yield layout
    if x.data.ndim == 0:
        yield "0-dim"
    if x.data.size == 0:
        yield "empty"
        return
    yield from (name for name, members in _classified(x) if members.any())


def _layout(x: Input) -> str:
    """The name of an input's layout; empty where it is contiguous, whatever the strides of its dimensions of size 1."""
    if x.strides is None:
        return "offset" if x.offset else ""
    lying = [(stride, size) for stride, size in zip(x.strides, x.data.shape, strict=True) if size > 1]
    if any(stride == 0 for stride, _ in lying):
        return "expanded"
    step = 1
    for stride, size in sorted(lying):
        if stride != step:
            return "strided"
        step *= size
    if lying == sorted(lying, reverse=True):
        return ""
    channels = x.data.ndim in (4, 5) and x.strides[1] == 1 and lying[-1][0] == x.data.shape[1]
    return "channels_last" if channels else "transposed"


def _masks(x: Input) -> Iterator[tuple[str, Array]]:
    """Which elements are of a class, such as `nan`, for those classes that some may be of; a complex one is judged by
    its absolute value. Every case is asked: what no element can be of costs no look at each of them.
    """
    data, kind = x.data, x.data.dtype.kind
    if kind not in "iufc" or not data.size:
        return
    size: Array = np.abs(data.astype(np.complex128 if kind == "c" else np.float64))
    if kind in "iu":
        yield "huge", size > GREAT
        return
    info = _limits(x)
    finite = np.isfinite(data)
    if not finite.all():
        yield "nan", np.isnan(data)
        yield "inf", np.isinf(data)
    least, greatest = size.min(where=finite, initial=np.inf), size.max(where=finite, initial=0)
    if greatest >= (huge := float(info.max) ** 0.5 * 0.99):
        yield "huge", finite & (size >= huge)
    if least <= float(info.tiny):
        yield "subnormal", (size > 0) & (size <= float(info.tiny))
    # What goes wrong far from 0 among numbers close together does so for how little they deviate.
    if greatest >= FAR and not lies_close(x):
        yield "far", finite & (size >= FAR)
    if least == 0:
        yield "zero", size == 0
    if least <= KINKS:
        halves = 2 * np.minimum(size, KINKS)  # a float64 twice as great may be none
        yield "kink", (size <= KINKS) & (size > 0) & (halves == np.floor(halves))
    ordered = np.sort(data, axis=None)
    if (ordered[1:] == ordered[:-1]).any():
        _, first = np.unique(data, return_index=True)
        repeated = np.ones(data.size, bool)
        repeated[first] = False
        yield "tie", repeated.reshape(data.shape) & finite


def usual(program: Program) -> frozenset[str]:
    """What is asked for where a result is wrong: numbers close together, numbers below zero, and a single dimension."""
    has = {
        CLOSE: any(map(lies_close, program.inputs)),
        NEGATIVE: any(x.data.dtype.kind in "if" and bool((x.data < 0).any()) for x in program.inputs),
        VECTOR: any(x.data.ndim == 1 for x in program.inputs),
    }
    return frozenset(name for name, told in has.items() if told)


def _with(program: Program, change: Callable[[Input], Input]) -> Program:
    return replace(program, inputs=[change(x) for x in program.inputs])


def packed(program: Program) -> Program:
    """The Program with every input packed, from the start of its memory."""
    return _with(program, lambda x: replace(x, strides=None, offset=0))


def apart(program: Program) -> Program:
    """The Program with every second element of some memory where inputs were expanded: no two share a place."""

    def lay(x: Input) -> Input:
        return replace(x, strides=place_layout("strided", x.data.shape).strides) if _layout(x) == "expanded" else x

    return _with(program, lay)


def calmed(program: Program, names: Collection[str], trial: int) -> Program:
    """The Program with ordinary values in place of those of some classes: [nan, 1.5, 2.5] without `nan` may be
    [2.1, 1.5, 2.5].

    Each trial has other values: of the range of the others, or, every third time, close to what they stand for, so that
    an op that goes wrong below -3 does so without -inf, too.
    """

    def calm(x: Input) -> Input:
        special, every = _members(x, names), _members(x, CLASSES)
        if not special.any():
            return x
        plain = _ordinary(x, x.data[~every], trial)
        return _replaced(x, special, _beside(x, plain, trial) if trial % 3 == 2 else plain)

    return _with(program, calm)


def positive(program: Program) -> Program:
    """The Program with the absolute values of its inputs."""
    return _with(program, lambda x: replace(x, data=np.abs(x.data)) if x.data.dtype.kind in "if" else x)


def matrices(program: Program) -> Iterator[Program]:
    """The Program with a matrix of one row in place of each vector, of the first one alone, or of one column."""
    vectors = [x.id for x in program.inputs if x.data.ndim == 1]

    def grown_to(*shape: int, ids: Collection[int]) -> Program:
        return _with(
            program,
            lambda x: replace(x, data=x.data.reshape(shape), strides=None, offset=0) if x.id in ids else x,
        )

    yield grown_to(1, -1, ids=vectors)
    yield grown_to(1, -1, ids=vectors[:1])
    yield grown_to(-1, 1, ids=vectors)


def nearer(program: Program, name: str) -> Program:
    """The Program with the next class of values in place of one: the greatest for what is not finite; for those 8, 7.5,
    7 and so on, with their signs, and zero for a subnormal.
    """

    def lessen(x: Input) -> Input:
        special = _members(x, VALUES[name])
        count = int(special.sum())
        if not count:
            return x
        # No two alike: equal values would be a property more.
        if name == "nonfinite":
            sizes = np.linspace(0.99, 0.5, count) * float(_limits(x).max)
        else:
            sizes = KINKS - np.arange(count) % (2 * KINKS) / 2
        values = np.zeros(x.data.shape)
        values[special] = sizes
        values[_members(x, ["subnormal"])] = 0.0
        return _replaced(x, special, np.copysign(values, _signs(x)))

    return _with(program, lessen)


def _members(x: Input, names: Collection[str]) -> Array:
    """Which elements are of some classes."""
    found: Array = np.zeros(x.data.shape, bool)
    for name, members in _classified(x):
        if name in names:
            found |= members
    return found


def _classified(x: Input) -> Iterator[tuple[str, Array]]:
    """Which elements are of each class: each is of the first that fits, so that a second huge value is no tie."""
    rest = np.ones(x.data.shape, bool)
    for name, mask in _masks(x):
        members = mask & rest
        rest &= ~members
        yield name, members


def _limits(x: Input) -> np.finfo[Any]:
    return np.finfo(np.float32) if x.dtype == "bfloat16" else np.finfo(x.data.dtype)


def _signs(x: Input) -> Array:
    """1 or -1 for each element; of NaN, 1."""
    return np.where(x.data.real < 0, -1.0, 1.0)


def _replaced(x: Input, mask: Array, values: Array) -> Input:
    """The input with other values where the mask is; elements that share a place in memory share one."""
    data = np.where(mask, values, x.data).astype(x.data.dtype)
    if x.strides is not None and 0 in x.strides:
        data = expand_values(data, x.strides)
    return replace(x, data=data)


def _beside(x: Input, plain: Array, trial: int) -> Array:
    """For each element an ordinary value close to it, no farther from zero than 8; for NaN, a plain one."""
    if x.data.dtype.kind not in "fiu":
        return plain
    share = fill_values("uniform", (x.seed or 0) + trial, x.data.shape, "float64", 0.8, 0.99)
    size = np.clip(np.abs(np.nan_to_num(x.data.astype(np.float64), posinf=KINKS, neginf=-KINKS)), 0.25, KINKS)
    return np.where(np.isnan(x.data), plain, _signs(x) * size * share)


def _ordinary(x: Input, others: Array, trial: int = 0) -> Array:
    """Uniform values in the range of the others; without others, of (0.25, 0.75), where most ops are defined."""
    integer = DTYPES[x.dtype].category == "integer"
    low, high = (1, 8) if integer else (0.25, 0.75)
    if others.size and others.dtype.kind in "iuf":
        least, greatest = float(others.min()), float(others.max())
        if least < greatest:
            low, high = least, greatest + integer
    return fill_values("uniform", (x.seed or 0) + trial, x.data.shape, x.dtype, low, high)


def grown(reference: Adapter, program: Program, size: int | None) -> Program | None:
    """The Program with something in its empty inputs, or with a dimension for those that have none; None where the
    reference refuses that, or a module's own parameters are empty.

    `size` 0: shape (0, 3) becomes (2, 3). None: shape () becomes (1,).
    """

    def grow(x: Input) -> Input:
        old = tuple(x.data.shape)
        shape = tuple(2 if length == 0 else length for length in old) if size == 0 else old or (1,)
        if shape == old:
            return x
        data = _ordinary(replace(x, data=np.empty(shape, x.data.dtype)), x.data.reshape(-1))
        return replace(x, data=data if size == 0 else x.data.reshape(shape), strides=None, offset=0)

    larger = replace(_with(program, grow), cotangents={}, cotangent_strides={})
    if size == 0 and _without_parameters(program):
        return None
    if Replay(reference, larger, side="reference").run().ended:
        return None
    return replace(larger, cotangents=waves(reference, larger)) if program.cotangents else larger
