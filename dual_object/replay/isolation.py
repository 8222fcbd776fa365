"""Isolation: each call of a Program as a Program of its own, on the values it had on the reference.

A divergence is blamed on the calls that diverge alone; what only echoes an earlier one does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np

from dual_object.program.calls import Call, Input
from dual_object.program.global_layouts import BROADCAST, Layout, layouts
from dual_object.program.printing import names
from dual_object.program.program import Program
from dual_object.program.strides import reversed_strides, sliced_sizes
from dual_object.program.values import Array, Placement, Ref, Sbp, Tree, map_leaves, refs
from dual_object.replay.adapter import Adapter, Reference
from dual_object.replay.observation import Observation
from dual_object.replay.randomness import randomness
from dual_object.replay.reading import leaf_tensors
from dual_object.replay.replay import Replay
from dual_object.replay.second_derivatives import differentiable_again, draw_second

_ISOLATED = ("function", "method", "operator", "call", "custom")


def isolate(reference: Adapter, program: Program) -> Iterator[tuple[int, Program, Observation]]:
    """Each call that computes something, by its index: its own Program and what the reference shows for it."""
    replay = Replay(reference, program, side="reference")
    spelled = names(program)
    lying = layouts(program)
    for x in program.inputs:
        replay.place(x)
    for index, call in enumerate(program.calls):
        alone = _alone(replay, call, spelled, bool(program.cotangents), lying)
        replay.step(index, call)
        if alone is not None:
            if program.random is not None:
                alone.random = randomness(cast("Reference", reference), alone)  # PyTorch, as it found the whole's
            if program.second_cotangents and alone.cotangents:
                alone.second_cotangents = _second_cotangents(reference, alone)
            observation = Replay(reference, alone, side="reference").run()
            alone.second_cotangents = differentiable_again(alone.second_cotangents, observation.gradients)
            if not observation.ended and observation.backward_failure is None and observation.second_failure is None:
                yield index, alone, observation
        if replay.seen.ended:
            return


def isolate_refused(reference: Adapter, program: Program, index: int) -> Program | None:
    """A call that the reference refuses as a Program of its own, on inputs that have the values which it is given
    there; None where it is given other objects than tensors.
    """
    call = program.calls[index]
    replay = Replay(reference, program, side="reference")
    replay.advance(index)
    given = {x.id: x for x in program.inputs}
    inputs: list[Input] = []
    for id_ in dict.fromkeys(call.operands()):
        value = replay.values.by_id.get(id_)
        if not isinstance(value, reference.tensor_type):
            return None
        [data] = reference.read([value])
        dtype = reference.describe(value)[0]
        inputs.append(given.get(id_) or Input(id_, "", data.copy(), dtype))
    return Program(inputs, [call], None)


def _alone(
    replay: Replay, call: Call, spelled: dict[int, str], backward: bool, lying: dict[int, Layout]
) -> Program | None:
    """The call as a Program, from the values of `replay` before it; None where it cannot stand alone.

    `lying` says how its global operands lie; one whose sbp only the target knows is whole on every rank.
    """
    adapter, values = replay.adapter, replay.values
    if call.kind not in _ISOLATED or call.raises or not (call.results() or call.out is None):
        return None
    alone = Program()
    operands = list(dict.fromkeys(call.operands()))
    written = [id_ for id_ in operands if id_ in call.results()] or (operands[:1] if call.out is None else [])
    clones: dict[int, int] = {}
    fresh = max([*replay.values.by_id, *call.results(), *operands], default=0) + 1

    def give(id_: int) -> None:
        strided = id_ not in written  # a clone of its own may lie otherwise, which is no fault of this call
        name, value = spelled.get(id_, ""), values.by_id[id_]
        alone.inputs.append(_input(adapter, id_, name, value, backward, lying.get(id_), strided))

    for id_ in operands:
        if isinstance(values.by_id[id_], adapter.tensor_type):
            give(id_)
            if id_ in written:
                clones[id_] = fresh
                alone.calls.append(Call("method", "clone", (Ref(id_),), {}, out=Ref(fresh)))
                fresh += 1
        elif id_ in values.modules and _can_be_made(replay, id_):
            for part in _tensors_of(replay, id_):
                if part not in operands and all(part != x.id for x in alone.inputs):
                    give(part)
            alone.calls += _module(replay, id_, lying.get(id_))
        else:
            return None

    def renamed(leaf: Any) -> Any:
        return Ref(clones[leaf.id]) if type(leaf) is Ref and leaf.id in clones else leaf

    def rename(tree: Tree) -> Tree:
        return map_leaves(tree, renamed)

    args = tuple(rename(arg) for arg in call.args)
    kwargs = {key: rename(arg) for key, arg in call.kwargs.items()}
    alone.calls.append(Call(call.kind, call.op, args, kwargs, rename(call.out), call.state, (), call.custom))
    if call.out is None and not clones.keys() >= set(written):  # it writes to what it is not given, such as `x.grad`
        return None
    alone.outputs = rename(call.out) if call.out is not None else tuple(Ref(clones[id_]) for id_ in written)
    if backward:
        alone.cotangents = waves(adapter, alone)
        if replay.program.cotangent_strides:
            shapes = ((id_, array.shape) for id_, array in alone.cotangents.items())
            alone.cotangent_strides = {id_: reversed_strides(shape) for id_, shape in shapes if len(shape) > 1}
    return alone


def _input(
    adapter: Adapter, id_: int, name: str, value: Any, backward: bool, lies: Layout | None, strided: bool
) -> Input:
    dtype, _, _, requires_grad = adapter.describe(value)
    [data] = adapter.read([value])
    layout = None if lies is None else _known(lies)
    strides, offset = lies_in_memory(adapter, value) if strided else (None, 0)
    wanted = requires_grad and backward
    return Input(id_, name, np.array(data, order="C"), dtype, wanted, strides, layout=layout, offset=offset)


def lies_in_memory(adapter: Adapter, tensor: Any) -> tuple[tuple[int, ...] | None, int]:
    """Strides and storage offset of a tensor, as an `Input` holds them."""
    strides, offset, _ = adapter.place(tensor)
    return strides, 0 if sliced_sizes(tuple(tensor.shape), strides) is None else offset


def _known(lies: Layout) -> tuple[Placement, tuple[Sbp, ...]]:
    placement, sbp = lies
    return placement, sbp or (BROADCAST,) * placement.ndim


def _made(replay: Replay, id_: int) -> Call | None:
    """The call that has made a value."""
    return next((call for call in replay.program.calls if call.out == Ref(id_)), None)


def _can_be_made(replay: Replay, id_: int) -> bool:
    """Whether a module is made of nothing but plain values, tensors and other modules, and these have not been
    exchanged.
    """
    made = _made(replay, id_)
    if made is None:
        return False
    parts = made.operands()
    if not parts:
        return True
    kept = _own_tensors(replay, id_, made).keys() == made.state.keys()
    return kept and all(_is_tensor(replay, part) or _is_made(replay, part) for part in parts)


def _is_tensor(replay: Replay, id_: int) -> bool:
    return isinstance(replay.values.by_id[id_], replay.adapter.tensor_type)


def _is_made(replay: Replay, id_: int) -> bool:
    return id_ in replay.values.modules and _can_be_made(replay, id_)


def _tensors_of(replay: Replay, id_: int) -> list[int]:
    """The tensors that a module and its parts are made of, such as the weights of a loss."""
    given = (part for made in _making(replay, id_).values() for part in made.operands())
    return [part for part in dict.fromkeys(given) if _is_tensor(replay, part)]


def _module(replay: Replay, id_: int, lies: Layout | None) -> list[Call]:
    """The construction of a module, after those of its parts, with the state, place and mode that it has now."""
    making = _making(replay, id_)
    calls = [_construction(replay, number, made) for number, made in making.items()]
    if lies is not None:
        placement, sbp = _known(lies)
        moved = {"placement": placement, "sbp": list(sbp)}
        calls.append(Call("method", "to_global", (Ref(id_),), moved, out=Ref(id_)))
    # The mode of a whole is set for its parts, too: theirs follow where they are not all alike.
    modes = {number: replay.values.modules[number].training for number in reversed(making)}
    if len({*modes.values()}) == 1:
        modes = {id_: modes[id_]}
    return calls + [Call("method", "train", (Ref(number), mode), {}, out=Ref(number)) for number, mode in modes.items()]


def _making(replay: Replay, id_: int) -> dict[int, Call]:
    """The calls that make a module by what they make: those of its parts, each once, then its own."""
    made = _made(replay, id_)
    assert made is not None, "it can be made"
    making: dict[int, Call] = {}
    for part in made.operands():
        if not _is_tensor(replay, part):
            making |= _making(replay, part)
    return making | {id_: made}


def _construction(replay: Replay, id_: int, made: Call) -> Call:
    """The call that makes a module, with the state that the module has now."""
    tensors = _own_tensors(replay, id_, made)
    arrays = replay.adapter.read(list(tensors.values()))
    state = {name: array.copy() for name, array in zip(tensors, arrays, strict=True)}
    return Call(made.kind, made.op, made.args, made.kwargs, made.out, state, (), made.custom)


def _own_tensors(replay: Replay, id_: int, made: Call) -> dict[str, Any]:
    """The parameters and buffers of a module by their names, but for those that it was given, such as the weights of a
    loss.
    """
    adapter, module = replay.adapter, replay.values.modules[id_]
    given = [replay.values.by_id[part] for part in made.operands()]
    tensors = {**adapter.parameters(module), **adapter.buffers(module)}
    return {name: tensor for name, tensor in tensors.items() if not any(tensor is one for one in given)}


def waves(adapter: Adapter, alone: Program) -> dict[int, Array]:
    """A cotangent for each returned tensor that a backward can start from, by number: the values cos(0), cos(1), ... in
    its shape, so that they are the same in every run.
    """
    forward = Replay(adapter, alone, side="reference")
    forward.run()
    cotangents: dict[int, Array] = {}
    for id_ in dict.fromkeys(refs(alone.outputs)):
        value = forward.values.by_id.get(id_)
        if isinstance(value, adapter.tensor_type):
            dtype, shape, _, requires_grad = adapter.describe(value)
            if not requires_grad:
                continue
            cotangents[id_] = _wave(dtype, shape)
    return cotangents


def _second_cotangents(adapter: Adapter, alone: Program) -> dict[str, Array]:
    """The same waves for the first gradient of each leaf, whether or not it can be differentiated again."""
    forward = Replay(adapter, alone, side="reference")
    forward.run()
    return {} if forward.seen.ended else draw_second(adapter, leaf_tensors(adapter, alone, forward.values), _wave)


def _wave(dtype: str, shape: tuple[int, ...]) -> Array:
    wave = np.cos(np.arange(int(np.prod(shape)), dtype=np.float64)).reshape(shape)
    return wave.astype("float32" if dtype == "bfloat16" else dtype)
