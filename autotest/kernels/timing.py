"""Speed beside correctness: how long a kernel takes, PyTorch's op and that compiled, with the same inputs.

What is measured comes from the process that runs the kernel; what it gave in the timed calls is held against PyTorch's
results here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autotest.kernels.questions import Question
from autotest.workers.supervisor import Supervisor
from dual_object.adapters.torch.kernels.shapes import Pattern, fits_shape
from dual_object.program.calls import Input
from dual_object.program.program import Program
from dual_object.program.values import Array
from dual_object.replay.adapter import Reference
from dual_object.replay.replay import QuietReplay

#: Elements of the first tensor, about.
SIZES = (1_000, 100_000, 1_000_000)
#: So often each is called, with a cold and with a warm cache.
ROUNDS = 9
#: The last dimension of what grows, where it has several.
_LAST = 256
#: Of the greatest number, how far an output may be off: the verdict says whether a kernel is exact, this whether it
#: worked at all while it was timed.
WORKED = 1e-3
#: Elements of all inputs; less than so many times as many as were wanted.
_MOST_TIMES = 8


@dataclass(frozen=True, slots=True)
class Times:
    """How long one call took.

    Attributes:
        shapes: those of its tensors.
        milliseconds: by who was called and what the cache was, the median and the quartiles.
        wrong: in how many of the `calls` of the kernel its results were wrong.
        uncompiled: why the op was not compiled; empty where it was.
    """

    shapes: tuple[tuple[int, ...], ...]
    milliseconds: Mapping[str, Mapping[str, tuple[float, float, float]]]
    wrong: int
    calls: int
    uncompiled: str


def programs(reference: Reference, asked: Sequence[Question], shapes: Sequence[Pattern]) -> list[Program]:
    """Single calls of three sizes, of the first ordinary question that can be grown."""
    found: list[Program] = []
    plain = [_single(q.program) for q in asked if q.cell.role == "plain" and len(q.program.calls) == 1]
    for elements in SIZES:
        grown = (
            candidate
            for program in plain
            if program.random is None and program.inputs and program.inputs[0].data.dtype.kind == "f"
            for candidate in _grown(program, elements)
            if fits_shape(candidate.inputs[0].data.shape, shapes)
            and sum(x.data.size for x in candidate.inputs) <= _MOST_TIMES * elements
        )
        lawful = next((one for one in grown if not QuietReplay(reference, one, side="reference").run().ended), None)
        found += [] if lawful is None else [lawful]
    return found


def _single(program: Program) -> Program:
    """The call alone, without a backward."""
    inputs = [replace(x, requires_grad=False, strides=None, offset=0) for x in program.inputs]
    return replace(program, inputs=inputs, cotangents={}, cotangent_strides={}, second_cotangents={}, brief=True)


def _grown(program: Program, elements: int) -> Iterator[Program]:
    """A Program whose first tensor has about so many elements: by its dimensions, by the first of them, by sizes."""
    shape = program.inputs[0].data.shape
    if not shape or 0 in shape:
        return
    alike = [x.data.shape == shape for x in program.inputs]
    wide = (*shape[:-1], _LAST) if len(shape) > 1 else shape
    for new in (wide, shape):
        rest = int(np.prod(new[1:], dtype=np.int64))
        sizes = (max(1, elements // rest), *new[1:])
        yield _with(program, [sizes if same else x.data.shape for x, same in zip(program.inputs, alike, strict=True)])
    largest = max(shape)
    times = shape.count(largest)
    others = int(np.prod(shape, dtype=np.int64)) // largest**times
    size = max(1, round((elements / others) ** (1 / times)))
    yield _with(program, [tuple(size if d == largest else d for d in x.data.shape) for x in program.inputs])


def _with(program: Program, shapes: Sequence[tuple[int, ...]]) -> Program:
    return replace(program, inputs=[_stretched(x, shape) for x, shape in zip(program.inputs, shapes, strict=True)])


def _stretched(x: Input, shape: tuple[int, ...]) -> Input:
    """An input of another shape: its elements again and again, floating ones a little apart."""
    data = x.data
    if shape == data.shape or np.prod(shape, dtype=np.int64) > _MOST_TIMES * SIZES[-1]:
        return x
    for dim, size in enumerate(shape):
        if data.shape[dim] != size:
            data = np.take(data, np.arange(size) % data.shape[dim], axis=dim)
    if data.dtype.kind == "f":
        chance = np.random.Generator(np.random.Philox(0))
        data = (data * (1 + 0.05 * chance.random(data.shape))).astype(data.dtype)
    return replace(x, data=np.ascontiguousarray(data))


def times(reference: Reference, supervisor: Supervisor, asked: Sequence[Program]) -> list[Times] | str:
    """How long each call takes; or, in a sentence, how the process ended."""
    found: list[Times] = []
    for program in asked:
        answer = supervisor.timed(program, ROUNDS)
        if not isinstance(answer, tuple):
            return f"not timed, for its process ended: {answer.sentence()}"
        told, arrays = answer
        if "raised" in told:
            return f"not timed: it raised {told['raised']}"
        wrong = _wrong(reference, program, told["outputs"], arrays)
        shapes = tuple(x.data.shape for x in program.inputs)
        found.append(Times(shapes, _summed(told["seconds"]), wrong, len(told["outputs"]), told["uncompiled"]))
    return found


def _wrong(reference: Reference, program: Program, outputs: Sequence[Any], arrays: Sequence[Array]) -> int:
    """How many of the timed calls gave what PyTorch does not."""
    wanted: dict[int, list[Array]] = {}
    wrong = 0
    for turn, places in outputs:
        if turn not in wanted:
            inputs = [replace(x, data=np.roll(x.data, turn, 0)) if x.data.ndim else x for x in program.inputs]
            seen = QuietReplay(reference, replace(program, inputs=inputs), side="reference").run()
            wanted[turn] = [one.data for one in seen.outputs.values()]
        given = [arrays[place] for place in places]
        wrong += len(given) != len(wanted[turn]) or not all(map(_alike, given, wanted[turn]))
    return wrong


def _alike(given: Array, wanted: Array) -> bool:
    if given.shape != wanted.shape:
        return False
    if not given.size:
        return True
    with np.errstate(all="ignore"):
        off = np.abs(given.astype(np.complex128) - wanted)
        greatest = np.nanmax(np.abs(wanted[np.isfinite(wanted)]), initial=0.0)
    same = (given == wanted) | (np.isnan(given) & np.isnan(wanted))
    return bool((same | (off <= WORKED * greatest)).all())


def _summed(seconds: Mapping[str, Mapping[str, Sequence[float]]]) -> dict[str, dict[str, tuple[float, float, float]]]:
    """Median, lower and upper quartile, in milliseconds."""

    def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
        low, middle, high = (round(float(1e3 * value), 5) for value in np.percentile(values, [25, 50, 75]))
        return middle, low, high

    return {who: {cache: quartiles(values) for cache, values in of.items()} for who, of in seconds.items()}


__all__ = ["ROUNDS", "SIZES", "WORKED", "Times", "programs", "times"]
