"""Arguments: what a call is given besides its inputs, and the same Program without them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dual_object.errors import MissingOp
from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.values import Array, Device, Name, Ref, Tree, leaves
from dual_object.record.annotations import parameter_name
from dual_object.replay.adapter import Reference
from dual_object.replay.replay import Replay

#: What most ops take in place of a number: a dimension that is often there, and no step, count or power of its own.
_INTEGERS = (1, 2, 0)
_FLOATS = (1.0, 2.0, 0.5)
#: What `x.to(...)` is given, by the type of that where it is no device.
_TO: Mapping[type, str] = {Name: "dtype", Ref: "other"}
#: Calls whose arguments are those that people wrote.
_CALLING = frozenset({"function", "method", "operator", "module", "call"})


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a call, by its position or its name; a receiver is none."""

    call: int
    at: int | str

    def of(self, program: Program) -> Tree:
        """Its value."""
        call = program.calls[self.call]
        return call.kwargs[self.at] if isinstance(self.at, str) else call.args[self.at]

    def name(self, reference: Reference, program: Program) -> str:
        """The name of its parameter; its position, from 0, where nobody knows that."""
        if isinstance(self.at, str):
            return self.at
        call = program.calls[self.call]
        if call.kind == "operator":
            return "index" if call.op == "getitem" else "other"
        function, keywords = _function(reference, call), frozenset(call.kwargs)
        method = call.kind == "method"
        name = parameter_name(function, call.op, self.at, len(call.args), keywords, method=method) or str(self.at)
        # `x.to(...)` has a device, a dtype or a tensor there, each in an overload of its own.
        return _TO.get(type(call.args[self.at]), name) if name == "device" else name

    def replaced(self, reference: Reference, program: Program) -> Iterator[Program]:
        """The Program without it, then with another value in its place, the most ordinary one first. Which of them make
        sense, the reference knows.
        """
        for args, kwargs in self._less(program.calls[self.call]):
            changed = _changed(reference, program, self.call, args, kwargs)
            if changed is not None:
                yield changed

    def _less(self, call: Call) -> Iterator[tuple[tuple[Tree, ...], Mapping[str, Tree]]]:
        if isinstance(self.at, str):
            yield call.args, {name: value for name, value in call.kwargs.items() if name != self.at}
            yield from ((call.args, {**call.kwargs, self.at: value}) for value in _others(call.kwargs[self.at]))
            return
        before, after = call.args[: self.at], call.args[self.at + 1 :]
        if not after:
            yield before, call.kwargs
        yield from (((*before, value, *after), call.kwargs) for value in _others(call.args[self.at]))


def arguments(program: Program, index: int) -> list[Argument]:
    """The arguments of a call that could be left out or be others, the last first; of a module's those that it was made
    with as well. A value of None is as good as none.
    """
    found: list[Argument] = []
    for number in _of(program, index):
        call = program.calls[number]
        positions = range(len(call.args) - 1, -1 if call.kind == "module" else 0, -1)
        found += [Argument(number, name) for name in reversed(call.kwargs) if call.kwargs[name] is not None]
        found += [Argument(number, at) for at in positions if call.args[at] is not None]
    return found


def kinds_of_arguments(call: Call) -> Iterator[tuple[int | str, tuple[object, ...]]]:
    """Of each argument of a call by what others it can stand for: `norm(x, p=2)` for `norm(x, p=3)`, but neither for
    `norm(x, p=inf)` nor for `norm(x)`.
    """
    named: list[tuple[int | str, Tree]] = [*enumerate(call.args), *call.kwargs.items()]
    for name, tree in named:
        yield name, tuple(_kind_of(leaf) for leaf in leaves(tree))


def _kind_of(leaf: object) -> object:
    """A number's type and sign, or which it is that is none; a choice itself, and of anything else the type."""
    if isinstance(leaf, (bool, str, Name, Device)):
        return leaf
    if not isinstance(leaf, (int, float)):
        return type(leaf).__name__
    return (type(leaf).__name__, (leaf > 0) - (leaf < 0)) if math.isfinite(leaf) else repr(leaf)


def plain(reference: Reference, program: Program, index: int) -> Program | None:
    """The Program with no argument of a call that has a name and is no tensor; None where it has none, or a module that
    is made so has other parameters.
    """
    less = program
    for number in _of(program, index):
        call = less.calls[number]
        tensors = {name: value for name, value in call.kwargs.items() if isinstance(value, Ref)}
        changed = _changed(reference, less, number, call.args, tensors) if tensors != call.kwargs else less
        if changed is None:
            return None
        less = changed
    return None if less is program else less


def _of(program: Program, index: int) -> list[int]:
    """A call, and the one that made the module which it calls."""
    call = program.calls[index]
    layer = call.args[0] if call.kind == "call" else None
    made = [number for number, one in enumerate(program.calls[:index]) if one.kind == "module" and one.out == layer]
    return [number for number in (index, *made) if program.calls[number].kind in _CALLING]


def _others(value: Tree) -> Iterator[Tree]:
    """What may stand in place of a value: another of its type that is more ordinary, or no tensor."""
    if isinstance(value, Ref):
        yield None
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        yield from (other for other in (_INTEGERS if isinstance(value, int) else _FLOATS) if other != value)
    elif isinstance(value, (tuple, list)) and value and all(type(part) is int for part in value):
        count = len(value)
        others = [tuple(range(1, count + 1)), tuple(range(count)), *((other,) * count for other in _INTEGERS)]
        yield from (other for other in dict.fromkeys(others) if other != tuple(value))


def _changed(
    reference: Reference, program: Program, index: int, args: tuple[Tree, ...], kwargs: Mapping[str, Tree]
) -> Program | None:
    """The Program with another call of the same op; None where the module that it makes has other parameters."""
    call = replace(program.calls[index], args=args, kwargs=dict(kwargs))
    before, after = program.calls[:index], program.calls[index + 1 :]
    if call.kind == "module" and call.state:
        state = _state(reference, program.inputs, before, call)
        if state is None:
            return None
        call = replace(call, state=state)
    return replace(program, calls=[*before, call, *after])


def _state(reference: Reference, inputs: list[Input], before: list[Call], call: Call) -> dict[str, Array] | None:
    """What of its state the module that a call makes still has; None where it has parameters that are new, or of
    another shape, which a kernel may read beyond their memory.
    """
    replay = Replay(reference, Program(inputs, [*before, replace(call, state={})]), side="reference")
    with reference.random_apart():
        if replay.run().ended or not isinstance(call.out, Ref):
            return None
    module = replay.values.by_id[call.out.id]
    tensors = {**reference.parameters(module), **reference.buffers(module)}
    shapes = {name: reference.describe(tensor)[1] for name, tensor in tensors.items()}
    fits = all(name in call.state and call.state[name].shape == shape for name, shape in shapes.items())
    return {name: call.state[name] for name in shapes} if fits else None


def _function(reference: Reference, call: Call) -> Any:
    """What a call calls; None where the reference has no such name."""
    if call.kind == "method":
        return getattr(reference.tensor_type, call.op, None)
    if call.kind not in ("function", "module"):
        return None
    try:
        return reference.resolve(call.op)
    except MissingOp:
        return None


__all__ = ["Argument", "arguments", "kinds_of_arguments", "plain"]
