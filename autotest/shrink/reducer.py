"""Reduction of a Program: candidates that are each a little simpler, tried until none of them stands.

A candidate is re-recorded on the reference before it is judged: host values, cotangents and the state of modules are
those that the simpler Program has there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from autotest.shrink.steps import (
    bare,
    calm,
    calm_elements,
    contiguous,
    cut,
    cut_each,
    drop_arguments,
    drop_axes,
    drop_outputs,
    fewer_steps,
    no_gradients,
    round_arguments,
)
from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.strides import reversed_strides
from dual_object.program.values import Array, Ref, Tree, refs
from dual_object.replay.adapter import Adapter
from dual_object.replay.replay import Replay

#: So many candidates are judged at most: an end that does not depend on how fast the machine is.
MOST_RUNS = 2000


class Reducer:
    """Reduces one Program. `stands` says whether a candidate still shows what is to be kept; it may raise to end the
    search.

    `best` is the simplest Program that has stood so far, None before any has.
    """

    def __init__(self, reference: Adapter, stands: Callable[[Program], bool]) -> None:
        self.best: Program | None = None
        self._reference = reference
        self._stands = stands
        self._tried: set[bytes] = set()

    def run(self, starts: Sequence[Program], *, forward: bool) -> Program | None:
        """Reduce the first of `starts` that stands, given the most promising first; None where none stands.

        `forward`: the divergence needs nothing of a backward.
        """
        for start in starts:
            # What shows at once is most of what the single steps would find, at the price of one run.
            if any(self._try(leap) for leap in _leaps(start, forward)):
                break
        if self.best is None:
            return None
        while len(self._tried) < MOST_RUNS and sum(self._exhaust(step) for step in self._steps(forward)):
            continue
        return self.best

    def _steps(self, forward: bool) -> Iterator[Callable[[Program], Iterator[Program]]]:
        assert self.best is not None
        if self.best.training is not None:  # each of its steps has the calls of the others
            yield from (fewer_steps, cut, calm, contiguous, drop_arguments, round_arguments, calm_elements)
            return
        yield drop_outputs
        yield self._drop_calls
        yield self._cut_off
        yield bare if forward else no_gradients
        yield cut
        yield cut_each
        yield calm
        yield drop_axes
        yield contiguous
        yield drop_arguments
        yield round_arguments
        yield calm_elements

    def _exhaust(self, step: Callable[[Program], Iterator[Program]]) -> bool:
        """Take what a step gives until it gives nothing new; whether anything was taken."""
        taken = False
        while len(self._tried) < MOST_RUNS:
            assert self.best is not None
            if not any(self._try(candidate) for candidate in step(self.best)):
                break
            taken = True
        return taken

    def _try(self, candidate: Program) -> bool:
        settled = settle(self._reference, candidate)
        if settled is None:
            return False
        digest = _digest(settled)
        if digest in self._tried:
            return False
        self._tried.add(digest)
        if not self._stands(settled):
            return False
        self.best = settled
        return True

    def _drop_calls(self, program: Program) -> Iterator[Program]:
        """Without one call, and without what is made of its results; the last calls first."""
        for index in reversed(range(len(program.calls))):
            yield _without(program, index)

    def _cut_off(self, program: Program) -> Iterator[Program]:
        """With an input in place of the results of one call, of the values that these have on the reference."""
        for index in reversed(range(len(program.calls))):
            candidate = _inlined(self._reference, program, index)
            if candidate is not None:
                yield candidate


def _leaps(program: Program, forward: bool) -> Iterator[Program]:
    """The boldest simplification first, then less bold ones, and the Program itself last."""
    plain = next(bare(program), program) if forward else program
    small = next(cut(plain), plain)
    for start in (small, plain) if small is not plain else (plain,):
        yield from calm(start)
        yield start
    yield program


def settle(reference: Adapter, program: Program) -> Program | None:
    """The Program as the reference records it now: with its own host values, cotangents of its outputs' shapes, and no
    inputs that nothing reads. None where the reference refuses it.
    """
    settled = _tidy(replace(program, calls=[replace(call) for call in program.calls]))
    if not settled.calls:
        return None
    replay = Replay(reference, replace(settled, cotangents={}), side="reference")
    for x in settled.inputs:
        replay.place(x)
    for index, call in enumerate(settled.calls):
        if call.kind == "module" and call.state:
            call.state = _state(reference, replay, call)
        replay.step(index, call)
        if replay.seen.ended or replay.seen.failures:
            return None
        if index in replay.seen.hosts:
            call.out = replay.seen.hosts.pop(index)
    cotangents: dict[int, Array] = {}
    for id_ in refs(settled.outputs):
        value = replay.values.by_id.get(id_)
        if id_ in settled.cotangents and isinstance(value, reference.tensor_type) and value.requires_grad:
            _, shape, _, _ = reference.describe(value)
            cotangents[id_] = _fitted(settled.cotangents[id_], tuple(shape))
    strided = {
        id_: reversed_strides(cotangents[id_].shape)
        for id_ in settled.cotangent_strides
        if id_ in cotangents and cotangents[id_].ndim > 1
    }
    settled = replace(settled, cotangents=cotangents, cotangent_strides=strided)
    run = Replay(reference, settled, side="reference").run()
    if settled.training is not None and not run.outputs.keys() >= {*settled.training.shown()}:
        return None  # an optimizer that keeps less, or a parameter without a gradient, is another training
    return None if run.ended or run.failures or run.hosts or run.backward_failure is not None else settled


def _state(reference: Adapter, replay: Replay, call: Call) -> dict[str, Array]:
    """The state of a module, cut or repeated to the shapes that its arguments ask for."""
    try:
        module = replay.apply(call)
    except Exception:  # the call itself is stepped through next, and its failure noted there
        return call.state
    shapes = {
        name: tuple(reference.describe(tensor)[1])
        for name, tensor in {**reference.parameters(module), **reference.buffers(module)}.items()
    }
    return {name: _fitted(array, shapes[name]) for name, array in call.state.items() if name in shapes}


def _fitted(array: Array, shape: tuple[int, ...]) -> Array:
    """The values of `array` in order, repeated or cut to `shape`; ones where it has none."""
    if array.shape == shape:
        return array
    return np.resize(array, shape) if array.size else np.ones(shape, array.dtype)


def _tidy(program: Program) -> Program:
    """Without what refers to values that are gone, and without inputs that nothing reads."""
    results = {id_ for call in program.calls for id_ in call.results()}
    made = results | {x.id for x in program.inputs}
    outputs = program.outputs
    if any(id_ not in made for id_ in refs(outputs)):
        left = [Ref(id_) for id_ in dict.fromkeys(refs(outputs)) if id_ in made]
        outputs = None if not left else left[0] if len(left) == 1 else tuple(left)
    if outputs is None and program.calls:
        outputs = _last_result(program.calls)
    read = set(refs(outputs)) | {id_ for call in program.calls for id_ in call.operands()}
    inputs = [x for x in program.inputs if x.id in read]
    placed = {x.id for x in inputs}  # a leaf that has become an input is one of these
    return replace(
        program,
        inputs=inputs,
        outputs=outputs,
        leaves=[id_ for id_ in program.leaves if id_ in results - placed],
        watched=[id_ for id_ in program.watched if id_ in results | placed],
    )


def _last_result(calls: Sequence[Call]) -> Tree:
    """What the last call that computes returns, where it is one object of the framework; a module is no result."""
    modules = {id_ for call in calls if call.kind == "module" for id_ in call.results()}
    others = [call for call in calls if call.kind not in ("enter", "exit", "set", "module")]
    last = next((call for call in reversed(others) if not modules.intersection(refs(call.out))), None)
    return last.out if last is not None and not last.raises and refs(last.out) else None


def _without(program: Program, index: int) -> Program:
    """The Program without a call and what depends on it."""
    call = program.calls[index]
    operands = set(call.operands())
    gone = {id_ for id_ in call.results() if id_ not in operands}
    kept: list[Call] = []
    for position, other in enumerate(program.calls):
        if position == index:
            continue
        if position > index and gone.intersection(other.operands()):
            gone.update(id_ for id_ in other.results() if id_ not in operands)
            continue
        kept.append(other)
    return replace(program, calls=kept)


def _inlined(reference: Adapter, program: Program, index: int) -> Program | None:
    """The Program with inputs for the results of a call; None where those are no new tensors."""
    call = program.calls[index]
    results = call.results()
    if not results or call.raises or call.kind in ("module", "enter", "set") or set(results) & set(call.operands()):
        return None
    replay = Replay(reference, program, side="reference")
    replay.advance(index + 1)
    values = [replay.values.by_id.get(id_) for id_ in results]
    if not all(isinstance(value, reference.tensor_type) for value in values):
        return None
    inputs = list(program.inputs)
    for id_, value, data in zip(results, values, reference.read(values), strict=True):
        dtype, _, _, requires_grad = reference.describe(value)
        inputs.append(Input(id_, "", data.copy(), dtype, requires_grad and bool(program.cotangents)))
    calls = [other for position, other in enumerate(program.calls) if position != index]
    return replace(program, inputs=inputs, calls=calls)


def _digest(program: Program) -> bytes:
    arrays: list[Array] = []
    text = json.dumps(program.to_json(arrays), sort_keys=True, default=str)
    digest = hashlib.sha256(text.encode())
    for array in arrays:
        digest.update(f"{array.dtype}{array.shape}".encode())
        digest.update(array.tobytes())
    return digest.digest()


__all__ = ["MOST_RUNS", "Reducer", "settle"]
