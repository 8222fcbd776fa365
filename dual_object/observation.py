"""What one side shows after running a Program: outputs, gradients, buffers, mutated inputs, and what went wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from dual_object.adapter import Adapter
from dual_object.errors import MissingOp
from dual_object.program import Program
from dual_object.second import differentiate
from dual_object.strides import laid
from dual_object.values import Array, Ref, Tree, refs

#: A module's parameters and buffers: dtype, shape and requires_grad, by name.
State: TypeAlias = "dict[str, tuple[str, tuple[int, ...], bool]]"
FailureKind = Literal["exception", "missing", "unsupported", "structure", "accepts_invalid", "exception_class"]

#: Classes that say nothing of what went wrong: nobody raises them, or everything is one.
FAMILIES = frozenset({"LookupError", "ArithmeticError", "Exception", "BaseException", "object"})
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_REFUSAL = re.compile(
    r"not supported|not support|unsupported|not implemented|unimplemented|no kernel|unexpected keyword argument"
    r"|can not find|cannot find the kernel",
    re.IGNORECASE,
)
_NO_SECOND = re.compile(r"gradient function for op \S+ is not found")  # of a gradient's op: OneFlow has no more


@dataclass(slots=True)
class Seen:
    """One tensor as a side shows it.

    `strides` are in elements, 0 where a size is 1, and None where the tensor is contiguous; `offset` is where it starts
    in its memory, in elements. Of what was not looked at these, and `leaf`, are the defaults on both sides.
    """

    dtype: str
    shape: tuple[int, ...]
    device: str
    requires_grad: bool
    data: Array
    strides: tuple[int, ...] | None = None
    offset: int = 0
    leaf: bool = True


@dataclass(slots=True)
class Failure:
    """One call that ended otherwise than on the reference: by an exception, or by none where the reference raised."""

    call: int | None
    kind: FailureKind
    classes: tuple[str, ...]
    message: str


@dataclass(slots=True)
class Observation:
    """All that is compared.

    `outputs`: by value number, for each tensor the body returned or the Program watches.
    `hosts`: by call
    index, host reads that differ from the recorded ones. `inputs`: by value number, inputs whose values changed.
    `gradients`: by leaf key
    (`"3"` an input or leaf tensor, `"5.weight"` a module's parameter), None where the leaf has none. `second`: so,
    second derivatives of the leaves that have a gradient. `buffers`: by
    `"5.running_mean"`. `parameters`: likewise, those whose values are no longer those that the module started with.
    `states`: by module number, its parameters and buffers as dtype, shape and requires_grad. `saved`: by module number,
    the keys of its `state_dict()`, sorted. `structures`: by call
    index, how what a call returned is built otherwise than on the reference, `{3}` standing for value number 3.
    `shared`: the numbers of inputs and outputs that lie in one memory; `unplaced`: of those of which that is unknown.
    `failures`: the failure that ended the run last, if any did (`ended`); before it those of calls which were meant
    to raise. `second_failure`: what ended the second backward, or the first one where that was to make a graph.
    `again`: what a second call of the same static graph shows, its outputs, gradients and buffers.
    """

    outputs: dict[int, Seen] = field(default_factory=dict)
    hosts: dict[int, Tree] = field(default_factory=dict)
    inputs: dict[int, Array] = field(default_factory=dict)
    gradients: dict[str, Seen | None] = field(default_factory=dict)
    buffers: dict[str, Seen] = field(default_factory=dict)
    parameters: dict[str, Seen] = field(default_factory=dict)
    states: dict[int, State] = field(default_factory=dict)
    saved: dict[int, tuple[str, ...]] = field(default_factory=dict)
    structures: dict[int, str] = field(default_factory=dict)
    shared: list[tuple[int, ...]] = field(default_factory=list)
    unplaced: tuple[int, ...] = ()
    failures: list[Failure] = field(default_factory=list)
    ended: bool = False
    backward_failure: Failure | None = None
    again: Observation | None = None
    second: dict[str, Seen | None] = field(default_factory=dict)
    second_failure: Failure | None = None


def class_names(error: BaseException) -> tuple[str, ...]:
    """The class names of an exception, most derived first, without those that every exception has and those of families
    (a KeyError is no IndexError, though both are a LookupError).
    """
    names = tuple(cls.__name__ for cls in type(error).__mro__ if cls.__name__ not in FAMILIES)
    return names or (type(error).__name__,)


def first_words(error: BaseException) -> str:
    """The first line of an exception's message that says something, without colours."""
    for line in _ANSI.sub("", str(error)).splitlines():
        said = line.strip()
        if said and said != "Error:":
            return said[:400]
    return type(error).__name__


def failure_of(error: Exception, call: int | None) -> Failure:
    """The failure that an exception of a target's call amounts to."""
    names, words = class_names(error), first_words(error)
    kind: FailureKind = "missing" if isinstance(error, MissingOp) else failure_kind(names, str(error))
    return Failure(call, kind, names, words)


def second_failure(error: Exception) -> Failure:
    """The failure that an exception of a backward with or through a graph amounts to."""
    failure = failure_of(error, None)
    if _NO_SECOND.search(str(error)):
        failure.kind = "unsupported"
    return failure


def failure_kind(classes: tuple[str, ...], message: str) -> FailureKind:
    """Whether an exception says that the target does not do this at all (`unsupported`) or is one in passing
    (`exception`).
    """
    return "unsupported" if "NotImplementedError" in classes or _REFUSAL.search(message) else "exception"


class Values:
    """The values of one run by number, its input tensors, the buffers those live in, and its modules.

    A call that returns another tensor where the reference gives an input itself takes the input's number; what becomes
    of the input is still seen on `inputs`.
    """

    __slots__ = ("buffers", "by_id", "inputs", "modules")

    def __init__(self) -> None:
        self.by_id: dict[int, Any] = {}
        self.inputs: dict[int, Any] = {}
        self.buffers: dict[int, Array] = {}
        self.modules: dict[int, Any] = {}

    def place(self, id_: int, tensor: Any) -> None:
        """Take in an input."""
        self.by_id[id_] = self.inputs[id_] = tensor


def leaf_tensors(adapter: Adapter, program: Program, values: Values) -> dict[str, Any]:
    """Every tensor that may receive a gradient, by leaf key: the inputs, the leaves made by the body, the modules'
    parameters.
    """
    found: dict[str, Any] = {}
    for x in program.inputs:
        tensor = values.inputs[x.id]
        if tensor.is_leaf:
            found[str(x.id)] = tensor
    for id_ in program.leaves:
        found[str(id_)] = values.by_id[id_]
    for id_, module in values.modules.items():
        for name, parameter in adapter.parameters(module).items():
            found[f"{id_}.{name}"] = parameter
    return found


def module_buffers(adapter: Adapter, program: Program, values: Values) -> dict[str, Any]:
    """The buffers that modules made for themselves, by key; one that the body passed in is an input, however it is
    kept.
    """
    states = {call.out.id: call.state for call in program.calls if call.state and type(call.out) is Ref}
    return {
        f"{id_}.{name}": buffer
        for id_, module in values.modules.items()
        for name, buffer in adapter.buffers(module).items()
        if name in states.get(id_, {})
    }


def module_parameters(adapter: Adapter, program: Program, values: Values) -> dict[str, tuple[Any, Array]]:
    """The parameters of modules, by key, each with the values that it started with."""
    states = {call.out.id: call.state for call in program.calls if call.state and type(call.out) is Ref}
    return {
        f"{id_}.{name}": (parameter, states[id_][name])
        for id_, module in values.modules.items()
        for name, parameter in adapter.parameters(module).items()
        if name in states.get(id_, {})
    }


def module_states(adapter: Adapter, values: Values) -> dict[int, State]:
    """What the modules hold, by number."""
    found: dict[int, State] = {}
    for id_, module in values.modules.items():
        held = {**adapter.parameters(module), **adapter.buffers(module)}
        described = {key: adapter.describe(tensor) for key, tensor in held.items()}
        if described:
            found[id_] = {key: (dtype, shape, grad) for key, (dtype, shape, _, grad) in described.items()}
    return found


def memory(
    adapter: Adapter, program: Program, values: Values, shown: Mapping[int, Any]
) -> tuple[list[tuple[int, ...]], tuple[int, ...]]:
    """Which inputs and outputs (`shown`, by number) lie in one memory, and of which that cannot be told."""
    places: dict[int, list[int]] = {}
    unplaced: list[int] = []
    inputs = {x.id: values.inputs[x.id] for x in program.inputs if x.id not in shown}
    moved = any(call.kind == "set" for call in program.calls)  # `x.data = y` gives an input another memory
    for id_, tensor in {**inputs, **shown}.items():
        buffer = None if moved else values.buffers.get(id_)
        place = adapter.storage(tensor) if buffer is None else buffer.__array_interface__["data"][0]
        if place is None:
            unplaced.append(id_)
        else:
            places.setdefault(place, []).append(id_)
    return sorted(tuple(sorted(ids)) for ids in places.values() if len(ids) > 1), tuple(unplaced)


class Finished:
    """A run whose last call has been asked for: what is left is to read what it shows.

    Reading waits for the target, so that the tensors of many runs are best read together: `tensors` are what is to
    be read, `fill` takes
    what was seen of them.
    """

    __slots__ = (
        "_adapter",
        "_buffers",
        "_gradients",
        "_ids",
        "_parameters",
        "_program",
        "_second",
        "_seen",
        "_values",
        "tensors",
    )

    def __init__(self, adapter: Adapter, program: Program, values: Values, seen: Observation) -> None:
        self._adapter, self._program, self._values, self._seen = adapter, program, values, seen
        self.tensors: list[Any] = []
        self._ids: list[int] = []
        self._gradients: dict[str, Any] = {}
        self._buffers: dict[str, Any] = {}
        self._parameters: dict[str, tuple[Any, Array]] = {}
        self._second: dict[str, Any] = {}
        if seen.ended:
            return
        by_id = values.by_id
        if program.cotangents:
            self._backward()
        shown = dict.fromkeys([*refs(program.outputs), *program.watched])
        self._ids = [id_ for id_ in shown if isinstance(by_id.get(id_), adapter.tensor_type)]
        leaves = leaf_tensors(adapter, program, values)
        self._gradients = {key: leaf.grad for key, leaf in leaves.items()}
        if program.second_cotangents and seen.backward_failure is None:
            self._differentiate_again(leaves)
        self._buffers = module_buffers(adapter, program, values)
        self.tensors += [by_id[id_] for id_ in self._ids]
        self.tensors += [gradient for gradient in self._gradients.values() if gradient is not None]
        self.tensors += [gradient for gradient in self._second.values() if gradient is not None]
        self.tensors += self._buffers.values()
        if values.modules and not program.brief:
            self._parameters = module_parameters(adapter, program, values)
            self.tensors += [parameter for parameter, _ in self._parameters.values()]

    def _backward(self) -> None:
        by_id, cotangents = self._values.by_id, self._program.cotangents
        # Where the reference has a tensor, the target may have given anything: a module, for one.
        tensors = {id_: by_id[id_] for id_ in cotangents if isinstance(by_id.get(id_), self._adapter.tensor_type)}
        starts = [id_ for id_, tensor in tensors.items() if tensor.requires_grad]
        if not starts:
            return
        outputs, arrays = [by_id[id_] for id_ in starts], [cotangents[id_] for id_ in starts]
        if self._program.cotangent_strides:
            strides = self._program.cotangent_strides
            arrays = [laid(array, strides.get(id_)) for id_, array in zip(starts, arrays, strict=True)]
        try:
            if self._program.second_cotangents:
                self._adapter.backward(outputs, arrays, create_graph=True)
            else:
                self._adapter.backward(outputs, arrays)
        except Exception as error:
            self._seen.backward_failure = failure_of(error, None)
            if self._program.second_cotangents:  # without a graph of its own it may still be had
                self._seen.second_failure = second_failure(error)

    def _differentiate_again(self, leaves: dict[str, Any]) -> None:
        try:
            self._second = differentiate(self._adapter, leaves, self._gradients, self._program.second_cotangents)
        except Exception as error:
            self._seen.second_failure = second_failure(error)

    def fill(self, shown: Iterator[Seen]) -> Observation:
        """The observation, from what was seen of `tensors` in order; the target must have been waited for."""
        seen = self._seen
        if seen.ended:
            return seen
        adapter, program, values = self._adapter, self._program, self._values
        seen.outputs = {id_: next(shown) for id_ in self._ids}
        for id_, output in seen.outputs.items():
            output.strides, output.offset, output.leaf = adapter.place(values.by_id[id_])
        for key, gradient in self._gradients.items():
            shown_gradient = seen.gradients[key] = None if gradient is None else next(shown)
            if shown_gradient is not None:
                shown_gradient.strides = adapter.place(gradient)[0]
        seen.second = {key: None if gradient is None else next(shown) for key, gradient in self._second.items()}
        seen.buffers = {key: next(shown) for key in self._buffers}
        for key, (_, start) in self._parameters.items():
            parameter = next(shown)
            if parameter.data.dtype != start.dtype or parameter.data.tobytes() != start.tobytes():
                seen.parameters[key] = parameter
        seen.inputs = mutated(adapter, program, values)
        if program.brief:
            return seen
        if values.modules:
            seen.states = module_states(adapter, values)
            keys = {id_: tuple(sorted(adapter.saved(module))) for id_, module in values.modules.items()}
            seen.saved = {id_: saved for id_, saved in keys.items() if saved}
        returned = refs(program.outputs)
        outputs = {id_: values.by_id[id_] for id_ in self._ids if id_ in returned}
        seen.shared, seen.unplaced = memory(adapter, program, values, outputs)
        return seen


def observe(finished: Sequence[Finished], adapter: Adapter) -> list[Observation]:
    """Read everything that the runs show, at once, and wait until whatever they asked for has run."""
    shown = iter(see(adapter, [tensor for run in finished for tensor in run.tensors]))
    adapter.synchronize()  # after reading, which waits too: waiting twice costs twice where waiting is busy
    return [run.fill(shown) for run in finished]


def see(adapter: Adapter, tensors: list[Any]) -> list[Seen]:
    """Describe and read `tensors`."""
    return [Seen(*adapter.describe(tensor), data) for tensor, data in zip(tensors, adapter.read(tensors), strict=True)]


def mutated(adapter: Adapter, program: Program, values: Values) -> dict[int, Array]:
    """The inputs whose values are no longer those they were drawn with."""
    changed: dict[int, Array] = {}
    for x in program.inputs:
        now = values.buffers.get(x.id)
        if now is None:
            [now] = adapter.read([values.inputs[x.id]])
        if now.tobytes() != x.data.tobytes():
            changed[x.id] = now
    return changed


def to_json(seen: Observation, arrays: list[Array]) -> dict[str, Any]:
    """`seen` as JSON data; its arrays are appended to `arrays`."""
    from dual_object.values import to_json as tree_json

    def show(tensor: Seen | None) -> Any:
        if tensor is None:
            return None
        arrays.append(tensor.data)
        told = [tensor.dtype, tensor.shape, tensor.device, tensor.requires_grad, len(arrays) - 1, tensor.leaf]
        return [*told, tensor.strides, tensor.offset] if tensor.strides is not None or tensor.offset else told

    def fail(failure: Failure | None) -> Any:
        return None if failure is None else [failure.call, failure.kind, failure.classes, failure.message]

    data: dict[str, Any] = {"outputs": [[id_, show(tensor)] for id_, tensor in seen.outputs.items()]}
    if seen.hosts:
        data["hosts"] = [[call, tree_json(tree, arrays)] for call, tree in seen.hosts.items()]
    if seen.inputs:
        data["inputs"] = [[id_, tree_json(array, arrays)] for id_, array in seen.inputs.items()]
    if seen.gradients:
        data["gradients"] = {key: show(tensor) for key, tensor in seen.gradients.items()}
    if seen.buffers:
        data["buffers"] = {key: show(tensor) for key, tensor in seen.buffers.items()}
    if seen.parameters:
        data["parameters"] = {key: show(tensor) for key, tensor in seen.parameters.items()}
    if seen.states:
        data["states"] = [[id_, state] for id_, state in seen.states.items()]
    if seen.saved:
        data["saved"] = list(seen.saved.items())
    if seen.structures:
        data["structures"] = list(seen.structures.items())
    if seen.shared:
        data["shared"] = seen.shared
    if seen.unplaced:
        data["unplaced"] = seen.unplaced
    if seen.failures:
        data["failures"] = [fail(failure) for failure in seen.failures]
        data["ended"] = seen.ended
    if seen.backward_failure is not None:
        data["backward_failure"] = fail(seen.backward_failure)
    if seen.again is not None:
        data["again"] = to_json(seen.again, arrays)
    if seen.second:
        data["second"] = {key: show(tensor) for key, tensor in seen.second.items()}
    if seen.second_failure is not None:
        data["second_failure"] = fail(seen.second_failure)
    return data


def from_json(data: Mapping[str, Any], arrays: list[Array]) -> Observation:
    """Rebuild what `to_json` gave."""
    from dual_object.values import from_json as tree_from_json

    def shown(item: Any) -> Seen | None:
        if item is None:
            return None
        dtype, shape, device, requires_grad, position, leaf, *place = item
        strides, offset = place or (None, 0)
        return Seen(
            dtype,
            tuple(shape),
            device,
            requires_grad,
            arrays[position],
            None if strides is None else tuple(strides),
            offset,
            leaf,
        )

    def seen(item: Any) -> Seen:
        tensor = shown(item)
        assert tensor is not None
        return tensor

    def failure(item: Any) -> Failure:
        call, kind, classes, message = item
        return Failure(call, kind, tuple(classes), message)

    ended_backward, ended_second = data.get("backward_failure"), data.get("second_failure")
    return Observation(
        outputs={id_: seen(item) for id_, item in data["outputs"]},
        hosts={call: tree_from_json(tree, arrays) for call, tree in data.get("hosts", ())},
        inputs={id_: tree_from_json(array, arrays) for id_, array in data.get("inputs", ())},
        gradients={key: shown(item) for key, item in data.get("gradients", {}).items()},
        buffers={key: seen(item) for key, item in data.get("buffers", {}).items()},
        parameters={key: seen(item) for key, item in data.get("parameters", {}).items()},
        states={
            id_: {key: (dtype, tuple(shape), grad) for key, (dtype, shape, grad) in state.items()}
            for id_, state in data.get("states", ())
        },
        saved={id_: tuple(keys) for id_, keys in data.get("saved", ())},
        structures=dict(data.get("structures", ())),
        shared=[tuple(ids) for ids in data.get("shared", ())],
        unplaced=tuple(data.get("unplaced", ())),
        failures=[failure(item) for item in data.get("failures", ())],
        ended=data.get("ended", False),
        backward_failure=None if ended_backward is None else failure(ended_backward),
        again=None if data.get("again") is None else from_json(data["again"], arrays),
        second={key: shown(item) for key, item in data.get("second", {}).items()},
        second_failure=None if ended_second is None else failure(ended_second),
    )


__all__ = [
    "Failure",
    "Finished",
    "Observation",
    "Ref",
    "Seen",
    "State",
    "Values",
    "class_names",
    "failure_kind",
    "failure_of",
    "first_words",
    "from_json",
    "leaf_tensors",
    "memory",
    "module_buffers",
    "module_parameters",
    "module_states",
    "mutated",
    "observe",
    "see",
    "to_json",
]
