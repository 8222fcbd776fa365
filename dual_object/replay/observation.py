"""What one side shows after running a Program: outputs, gradients, buffers, mutated inputs, and what went wrong."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from dual_object.errors import MissingOp
from dual_object.program.program import Randomness
from dual_object.program.values import Array, Ref, Tree

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

    def gradient_keys(self) -> list[str]:
        """The leaves that have a gradient."""
        return [key for key, gradient in self.gradients.items() if gradient is not None]


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


def to_json(seen: Observation, arrays: list[Array]) -> dict[str, Any]:
    """`seen` as JSON data; its arrays are appended to `arrays`."""
    from dual_object.program.values import to_json as tree_json

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
    from dual_object.program.values import from_json as tree_from_json

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


def blinded(seen: Observation, random: Randomness) -> Observation:
    """The observation without the values of what is random; dtypes, devices and shapes stay."""
    return dataclasses.replace(
        seen,
        outputs={
            id_: _blind(one, id_ in random.sizes) if id_ in random.values else one for id_, one in seen.outputs.items()
        },
        gradients={
            key: _blind(one, False) if one is not None and key in random.gradients else one
            for key, one in seen.gradients.items()
        },
        buffers={key: _blind(one, False) if key in random.buffers else one for key, one in seen.buffers.items()},
        inputs={id_: array for id_, array in seen.inputs.items() if id_ not in random.values},
        hosts={call: value for call, value in seen.hosts.items() if call not in random.hosts},
    )


def _blind(seen: Seen, sized: bool) -> Seen:
    shape = () if sized else seen.shape
    return dataclasses.replace(seen, shape=shape, data=np.zeros(shape, seen.data.dtype))


__all__ = [
    "Failure",
    "Observation",
    "Ref",
    "Seen",
    "State",
    "blinded",
    "class_names",
    "failure_kind",
    "failure_of",
    "first_words",
    "from_json",
    "to_json",
]
