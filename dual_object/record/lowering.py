"""Lowering: the modules of a Program told by the functions that they call, for a target that has no modules.

The Program runs on the reference once more. While a module is called, the public functions that PyTorch's own code
calls are taken down in its place; its parameters and buffers become inputs, with the values that they have when they
are first taken. What remains is a Program like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dual_object.errors import NotLowered
from dual_object.program.calls import Call, Input, op_name
from dual_object.program.program import Program
from dual_object.program.values import PLAIN, Array, Device, Name, Named, Ref, Tree, map_leaves
from dual_object.record.lowered import Held, Lowering, Place
from dual_object.replay.adapter import Made, Reference
from dual_object.replay.isolation import lies_in_memory
from dual_object.replay.observation import class_names, first_words
from dual_object.replay.reading import observe, see
from dual_object.replay.replay import QuietReplay


def lower(program: Program, reference: Reference) -> Lowering:
    """A Program without modules that does what `program` does; itself where it has none.

    Raises NotLowered where it has modules that functions cannot stand for.
    """
    if not any(call.kind in ("module", "custom") for call in program.calls):
        return Lowering(program, program)
    reason = program.inline or ("it trains" if program.training is not None else None)
    if reason is not None:
        raise NotLowered(reason)
    if not any(call.kind == "module" or call.state for call in program.calls):
        return Lowering(program, program)
    with reference.random_apart():
        reference.seed(0)
        return _Lowerer(program, reference).lowered()


class _Lowerer:
    """One run of a Program on the reference, in which its modules are watched."""

    def __init__(self, program: Program, reference: Reference) -> None:
        self.program = program
        self.reference = reference
        self.replay = QuietReplay(reference, program, side="reference")
        self.calls: list[Call] = []
        self.places: list[Place] = []
        #: The further inputs, by number, and the tensors behind them.
        self.inputs: dict[int, Input] = {}
        self.taken: dict[int, Any] = {}
        #: What the lowered Program calls each tensor, by the tensor's identity; those that it knows must live on.
        self.known: dict[int, int] = {}
        self.alive: list[Any] = []
        #: What it calls values of the original, where that is not the same.
        self.numbers: dict[int, int] = {}
        self.free = program.free()

    def lowered(self) -> Lowering:
        for x in self.program.inputs:
            self.replay.place(x)
            self._know(self.replay.values.inputs[x.id], x.id)
        for index, call in enumerate(self.program.calls):
            self._call(index, call)
            if self.replay.seen.ended:
                failure = self.replay.seen.failures[-1]
                raise NotLowered(f"PyTorch itself cannot run it here: {failure.classes[0]}: {failure.message}")
        [shown] = observe([self.replay.finish()], self.reference)
        held = [dict(self._held(of)) for of in (self.reference.parameters, self.reference.buffers)]
        left = [array.copy() for array in self.reference.read(list(self.taken.values()))]
        return Lowering(self.program, self._program(*held), shown, self.places, self.numbers, held[0], held[1], left)

    # One call.

    def _call(self, index: int, call: Call) -> None:
        modules = self._modules(call)
        if call.kind == "custom" and (call.state or modules):
            raise NotLowered(f"{call.op} is a function of the test's own that is given a module, or gives one")
        if call.kind == "module":
            self._construct(index, call)
        elif not modules:
            self.replay.step(index, call)
            self._pass_on(index, call)
        elif self._sets_up(call, modules):
            self.replay.step(index, call)
        else:
            self._watch(index, call, modules)

    def _construct(self, index: int, call: Call) -> None:
        if call.raises:
            raise NotLowered(f"PyTorch refuses to make a {op_name(call)}: no function does")
        with self.reference.random_apart():  # what a new module draws for itself is replaced
            self.replay.step(index, call)
        if type(call.out) is Ref and call.state and not self.replay.seen.ended:
            tensors = self._tensors(self.replay.values.by_id[call.out.id])
            if any(id(tensors[name]) in self.known for name in call.state):
                raise NotLowered(f"{op_name(call)} is made of a module that was used before, and starts it anew")

    def _pass_on(self, index: int, call: Call) -> None:
        """Take over a call that has nothing to do with modules."""
        by_id = self.replay.values.by_id
        for id_ in call.results():
            if isinstance(value := by_id.get(id_), self.reference.tensor_type):
                self._call_it(id_, value)
        self._append(
            Call(
                call.kind,
                call.op,
                tuple(self._renumbered(arg) for arg in call.args),
                {key: self._renumbered(arg) for key, arg in call.kwargs.items()},
                self._renumbered(call.out),
                raises=call.raises,
                refusal=call.refusal,
                custom=call.custom,
            ),
            Place(index),
        )

    def _sets_up(self, call: Call, modules: Sequence[Any]) -> bool:
        """Whether a call makes modules what they are to be, before they are used: its effect shows in what they hold
        then.
        """
        if call.kind == "call" or any(
            id(tensor) in self.known for module in modules for tensor in self._tensors(module).values()
        ):
            return False
        known = self.replay.values.modules
        return call.out is None or (bool(call.results()) and all(id_ in known for id_ in call.results()))

    def _watch(self, index: int, call: Call, modules: Sequence[Any]) -> None:
        """Take down the functions that are called while a module is."""
        pending = {
            id(tensor): self._as_input(module, name, tensor)
            for module in modules
            for name, tensor in self._tensors(module).items()
            if id(tensor) not in self.known
        }
        op = op_name(call) if call.kind != "get" else f"reading {call.op}"
        with self.reference.watching() as watched:
            self.replay.step(index, call)
        if watched.obstacle is not None:
            raise NotLowered(f"{op} {watched.obstacle}")
        if call.raises and not (watched.made and watched.made[-1].raised):
            raise NotLowered(f"{op} itself refuses what it is given: no function that it calls does")
        for made in watched.made:
            self._append(self._inner(op, made, pending), Place(index, made.op))
        for id_ in call.results():
            value = self.replay.values.by_id.get(id_)
            if isinstance(value, self.reference.tensor_type):
                self._take(value, pending)
                if id(value) not in self.known:
                    raise NotLowered(f"{op} gives a tensor that no function within it has made")
                self._call_it(id_, value)

    def _inner(self, op: str, made: Made, pending: Mapping[int, tuple[Input, Any]]) -> Call:
        """A call that a module has made."""

        def operand(leaf: Any) -> Tree:
            if isinstance(leaf, self.reference.tensor_type):
                self._take(leaf, pending)
                if id(leaf) not in self.known:
                    raise NotLowered(f"{op} gives {made.op} a tensor that no function within it has made")
                return Ref(self.known[id(leaf)])
            return self._neutral(leaf, op, made.op)

        args = tuple(map_leaves(arg, operand) for arg in made.args)
        kwargs = {key: map_leaves(arg, operand) for key, arg in made.kwargs.items()}
        if made.raised is not None:
            raises, refusal = class_names(made.raised), first_words(made.raised)
            return Call(made.kind, made.op, args, kwargs, raises=raises, refusal=refusal)
        return Call(made.kind, made.op, args, kwargs, self._result(made.result, op, made.op))

    def _result(self, result: Any, op: str, within: str) -> Tree:
        if isinstance(result, self.reference.tensor_type):
            if id(result) not in self.known:
                self._know(result, next(self.free))
            return Ref(self.known[id(result)])
        if isinstance(result, (tuple, list)):
            items = [self._result(item, op, within) for item in result]
            if isinstance(result, list):
                return items
            fields = self.reference.fields(result)
            return Named(fields, tuple(items)) if fields else tuple(items)
        return self._neutral(result, op, within)

    def _neutral(self, value: Any, op: str, within: str) -> Tree:
        """The neutral form of a plain object of the framework."""
        if type(value) in PLAIN or type(value) is complex or value is Ellipsis:
            return value
        tree = self.reference.encode(value)
        if isinstance(tree, (Name, Device)) or (type(tree) is tuple and all(type(item) in PLAIN for item in tree)):
            return tree
        raise NotLowered(f"{op} gives {within} a {type(value).__name__}, which no Program can hold")

    # Tensors and their numbers.

    def _know(self, tensor: Any, number: int) -> None:
        self.known[id(tensor)] = number
        self.alive.append(tensor)

    def _call_it(self, id_: int, tensor: Any) -> None:
        """Take a value of the original for the tensor that it is."""
        number = self.known.get(id(tensor))
        if number is None:
            self._know(tensor, id_)
        elif number != id_:
            self.numbers[id_] = number

    def _take(self, tensor: Any, pending: Mapping[int, tuple[Input, Any]]) -> None:
        """Make an input of a module's tensor that is taken for the first time."""
        if id(tensor) in self.known or id(tensor) not in pending:
            return
        x, _ = pending[id(tensor)]
        number, names = next(self.free), {one.name for one in (*self.program.inputs, *self.inputs.values())}
        name, count = x.name, 1
        while name in names:
            count += 1
            name = f"{x.name}_{count}"
        self.inputs[number] = replace(x, id=number, name=name)
        self.taken[number] = tensor
        self._know(tensor, number)

    def _as_input(self, module: Any, name: str, tensor: Any) -> tuple[Input, Any]:
        """A module's tensor as the input that it would be, were it taken now."""
        dtype, _, device, requires_grad = self.reference.describe(tensor)
        if device != "cpu":
            raise NotLowered(f"{name} of a {type(module).__name__} lies on {device}, where no input does")
        [data] = self.reference.read([tensor])
        strides, _ = lies_in_memory(self.reference, tensor)  # an input is made anew: nothing lies before it
        called = f"{type(module).__name__.lower()}_{name.replace('.', '_')}"
        return Input(-1, called, np.array(data, order="C"), dtype, requires_grad, strides), tensor

    def _modules(self, call: Call) -> list[Any]:
        by_id = self.replay.values.by_id
        values = (by_id.get(id_) for id_ in dict.fromkeys(call.operands()))
        return [value for value in values if isinstance(value, self.reference.module_type)]

    def _tensors(self, module: Any) -> dict[str, Any]:
        return {**self.reference.parameters(module), **self.reference.buffers(module)}

    def _renumbered(self, tree: Tree) -> Tree:
        return map_leaves(tree, lambda leaf: Ref(self._number(leaf.id)) if type(leaf) is Ref else leaf)

    def _number(self, id_: int) -> int:
        return self.numbers.get(id_, id_)

    def _append(self, call: Call, place: Place) -> None:
        self.calls.append(call)
        self.places.append(place)

    # All of it.

    def _held(self, of: Any) -> Iterator[tuple[str, Held]]:
        """What modules hold, by key, when all is over."""
        starts = {call.out.id: call.state for call in self.program.calls if call.state and type(call.out) is Ref}
        for id_, module in self.replay.values.modules.items():
            tensors = of(module)
            for (name, tensor), seen in zip(tensors.items(), see(self.reference, [*tensors.values()]), strict=True):
                start = starts.get(id_, {}).get(name)
                data = replace(seen, data=seen.data.copy())
                yield f"{id_}.{name}", Held(self.known.get(id(tensor)), start, data)

    def _program(self, parameters: Mapping[str, Held], buffers: Mapping[str, Held]) -> Program:
        program = self.program
        # A static graph shows of what it has written to no more than it returns.
        returned = dict.fromkeys(held.number for held in buffers.values() if held.number in self.inputs)
        outputs = self._renumbered(program.outputs)
        if returned:
            outputs = (outputs, [Ref(number) for number in returned if number is not None])
        inputs = {x.id for x in program.inputs} | self.inputs.keys()
        own = [self._number(id_) for id_ in program.leaves]
        own += [held.number for held in parameters.values() if held.number is not None and held.seen.requires_grad]
        return replace(
            program,
            inputs=[*program.inputs, *self.inputs.values()],
            calls=self.calls,
            outputs=outputs,
            cotangents={self._number(id_): array for id_, array in program.cotangents.items()},
            cotangent_strides={self._number(id_): strides for id_, strides in program.cotangent_strides.items()},
            second_cotangents=self._second(parameters),
            leaves=[id_ for id_ in dict.fromkeys(own) if id_ not in inputs],
            watched=[self._number(id_) for id_ in program.watched],
            random=None,
        )

    def _second(self, parameters: Mapping[str, Held]) -> dict[str, Array]:
        """The cotangents of second derivatives; a parameter that is met under several keys has one gradient, which is
        differentiated from the sum of theirs.
        """
        summed: dict[str, Array] = {}
        for key, array in self.program.second_cotangents.items():
            number = parameters[key].number if "." in key else self._number(int(key))
            if number is not None:
                leaf = str(number)
                summed[leaf] = summed[leaf] + array if leaf in summed else array
        return summed


__all__ = ["lower"]
