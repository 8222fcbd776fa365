"""What one side shows after running a Program: outputs, gradients, buffers, mutated inputs, and what went wrong."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from dual_object.errors import MissingOp, StructureError, UnmappedOp
from dual_object.program.program import Randomness
from dual_object.program.values import Array, Ref, Tree

#: A module's parameters and buffers: dtype, shape and requires_grad, by name.
State: TypeAlias = "dict[str, tuple[str, tuple[int, ...], bool]]"
FailureKind = Literal[
    "exception", "missing", "unmapped", "unsupported", "structure", "accepts_invalid", "exception_class", "mode"
]
#: What a static graph may show of a Program, besides dtypes, shapes and devices of outputs:
#:
#:     - `values`, and `gradients` and `buffers` with theirs;
#:     - `layout`: strides and storage offsets; `sharing`: what lies in one memory; `standing`: requires_grad, leafness;
#:     - `inputs`, `parameters`: those that were written to; `states`: what modules hold;
#:     - `hosts`: what the body read to Python;
#:     - `second`: second derivatives, of which graphs are not asked.
GraphPart = Literal[
    "values",
    "gradients",
    "buffers",
    "layout",
    "sharing",
    "standing",
    "inputs",
    "parameters",
    "states",
    "hosts",
    "second",
]
#: All of it, as an eager run shows it.
ALL_PARTS: frozenset[GraphPart] = frozenset(get_args(GraphPart))
#: What every graph shows that says nothing else.
PLAIN_PARTS: frozenset[GraphPart] = frozenset({"values", "gradients", "buffers"})
#: How a Program has come into a graph, best first: whole; whole, but anew for other values; in pieces between which
#: Python ran; not at all.
CaptureOutcome = Literal["captured", "recompiled", "broken", "refused"]

#: How the exception is called by which a kernel's process says that the kernel has done what no op may.
MISCONDUCT = "Misconduct"
#: Classes that say nothing of what went wrong: nobody raises them, or everything is one.
FAMILIES = frozenset({"LookupError", "ArithmeticError", "Exception", "BaseException", "object"})
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_REFUSAL = re.compile(
    r"not supported|not support|unsupported|not implemented|unimplemented|no kernel|unexpected keyword argument"
    r"|can not find|cannot find the kernel",
    re.IGNORECASE,
)
#: Of a gradient's op: OneFlow has no more, Paddle none.
_NO_SECOND = re.compile(r"gradient function for op \S+ is not found|doesn't have any grad op")


@dataclass(slots=True)
class Seen:
    """One tensor as a side shows it.

    `strides` are in elements, 0 where a size is 1, and None where the tensor is contiguous; `offset` is where it starts
    in its memory, in elements. Where strides, offset and leaf are not compared, both sides leave the defaults.
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
    """One call that ended otherwise than on the reference: by an exception, by none where the reference raised, or with
    a mode of the process switched. `call` is its index, None where it is none of the Program's: a backward, for one.
    """

    call: int | None
    kind: FailureKind
    classes: tuple[str, ...]
    message: str

    @property
    def words(self) -> str:
        """What was done, in words."""
        if self.classes[0] == MISCONDUCT:
            return f"ran a kernel that does what none may: {self.message}"
        return f"raised {self.classes[0]}: {self.message}"


@dataclass(frozen=True, slots=True)
class Capture:
    """What became of the capture of a Program in a graph, and why where it is not simply whole."""

    outcome: CaptureOutcome
    reasons: tuple[str, ...] = ()


@dataclass(slots=True)
class Observation:
    """All that is compared.

    Attributes:
        outputs: by value number, the tensors that the body returned or the Program watches.
        hosts: by call index, host reads (`x.item()`) that differ from the recorded ones.
        inputs: by value number, the new values of inputs that were written to.
        gradients: by leaf key (`"3"` an input or leaf tensor, `"5.weight"` a module's parameter), None where the leaf
            has none.
        buffers: by key (`"5.running_mean"`), the buffers of modules.
        parameters: by key, those whose values are no longer the ones that the module started with.
        states: by module number, its parameters and buffers as dtype, shape and requires_grad.
        saved: by module number, the keys of its `state_dict()`, sorted.
        structures: by call index, how what a call returned is built otherwise than on the reference; `{3}` stands for
            value number 3.
        shared: groups of numbers of inputs and outputs that lie in one memory.
        unplaced: numbers of those of which this is unknown.
        failures: first the calls that failed otherwise than they were meant to, then what ended the run, if anything
            did.
        ended: whether the last failure ended the run, of which nothing is shown then but the losses of a training.
        backward_failure: what ended the backward.
        again: outputs, gradients and buffers at a second call of the same static graph.
        second: by leaf key, the second derivatives of the leaves that have a gradient.
        second_failure: what ended the second backward, or the first one where that was to make a graph.
        shows: the parts that it can show at all; an eager run all of them, a static graph what it says.
        capture: of a static graph: what became of its capture; None where the target does not tell.
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
    shows: frozenset[GraphPart] = PLAIN_PARTS
    capture: Capture | None = None

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
    kind: FailureKind
    if isinstance(error, MissingOp):
        kind = "unmapped" if isinstance(error, UnmappedOp) else "missing"
    elif isinstance(error, StructureError):
        kind = "structure"
    else:
        kind = failure_kind(names, str(error))
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


def to_json(observation: Observation, arrays: list[Array]) -> dict[str, Any]:
    """`observation` as JSON data; its arrays are appended to `arrays`."""
    from dual_object.program.values import to_json as tree_json

    def reading_row(tensor: Seen | None) -> Any:
        if tensor is None:
            return None
        arrays.append(tensor.data)
        row = [tensor.dtype, tensor.shape, tensor.device, tensor.requires_grad, len(arrays) - 1, tensor.leaf]
        return [*row, tensor.strides, tensor.offset] if tensor.strides is not None or tensor.offset else row

    def failure_row(failure: Failure | None) -> Any:
        return None if failure is None else [failure.call, failure.kind, failure.classes, failure.message]

    data: dict[str, Any] = {"outputs": [[id_, reading_row(tensor)] for id_, tensor in observation.outputs.items()]}
    if observation.hosts:
        data["hosts"] = [[call, tree_json(tree, arrays)] for call, tree in observation.hosts.items()]
    if observation.inputs:
        data["inputs"] = [[id_, tree_json(array, arrays)] for id_, array in observation.inputs.items()]
    if observation.gradients:
        data["gradients"] = {key: reading_row(tensor) for key, tensor in observation.gradients.items()}
    if observation.buffers:
        data["buffers"] = {key: reading_row(tensor) for key, tensor in observation.buffers.items()}
    if observation.parameters:
        data["parameters"] = {key: reading_row(tensor) for key, tensor in observation.parameters.items()}
    if observation.states:
        data["states"] = [[id_, state] for id_, state in observation.states.items()]
    if observation.saved:
        data["saved"] = list(observation.saved.items())
    if observation.structures:
        data["structures"] = list(observation.structures.items())
    if observation.shared:
        data["shared"] = observation.shared
    if observation.unplaced:
        data["unplaced"] = observation.unplaced
    if observation.failures:
        data["failures"] = [failure_row(failure) for failure in observation.failures]
        data["ended"] = observation.ended
    if observation.backward_failure is not None:
        data["backward_failure"] = failure_row(observation.backward_failure)
    if observation.again is not None:
        data["again"] = to_json(observation.again, arrays)
    if observation.second:
        data["second"] = {key: reading_row(tensor) for key, tensor in observation.second.items()}
    if observation.second_failure is not None:
        data["second_failure"] = failure_row(observation.second_failure)
    if observation.shows != PLAIN_PARTS:
        data["shows"] = "all" if observation.shows == ALL_PARTS else sorted(observation.shows)
    if observation.capture is not None:
        data["capture"] = [observation.capture.outcome, observation.capture.reasons]
    return data


def from_json(data: Mapping[str, Any], arrays: list[Array]) -> Observation:
    """Rebuild what `to_json` gave."""
    from dual_object.program.values import from_json as tree_from_json

    def reading_or_none(item: Any) -> Seen | None:
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

    def reading(item: Any) -> Seen:
        tensor = reading_or_none(item)
        assert tensor is not None
        return tensor

    def failure(item: Any) -> Failure:
        call, kind, classes, message = item
        return Failure(call, kind, tuple(classes), message)

    ended_backward, ended_second = data.get("backward_failure"), data.get("second_failure")
    return Observation(
        outputs={id_: reading(item) for id_, item in data["outputs"]},
        hosts={call: tree_from_json(tree, arrays) for call, tree in data.get("hosts", ())},
        inputs={id_: tree_from_json(array, arrays) for id_, array in data.get("inputs", ())},
        gradients={key: reading_or_none(item) for key, item in data.get("gradients", {}).items()},
        buffers={key: reading(item) for key, item in data.get("buffers", {}).items()},
        parameters={key: reading(item) for key, item in data.get("parameters", {}).items()},
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
        second={key: reading_or_none(item) for key, item in data.get("second", {}).items()},
        second_failure=None if ended_second is None else failure(ended_second),
        shows=ALL_PARTS if data.get("shows") == "all" else frozenset(data.get("shows", PLAIN_PARTS)),
        capture=capture_from_json(data.get("capture")),
    )


def capture_from_json(data: Any) -> Capture | None:
    """Rebuild a capture's `[outcome, reasons]`; None of None."""
    return None if data is None else Capture(data[0], tuple(data[1]))


def blinded(observation: Observation, random: Randomness) -> Observation:
    """The observation without the values of what is random; dtypes, devices and shapes stay."""
    return dataclasses.replace(
        observation,
        outputs={
            id_: _blind(reading, id_ in random.sizes) if id_ in random.values else reading
            for id_, reading in observation.outputs.items()
        },
        gradients={
            key: _blind(reading, False) if reading is not None and key in random.gradients else reading
            for key, reading in observation.gradients.items()
        },
        buffers={
            key: _blind(reading, False) if key in random.state else reading
            for key, reading in observation.buffers.items()
        },
        parameters={
            key: _blind(reading, False) if key in random.state else reading
            for key, reading in observation.parameters.items()
        },
        inputs={id_: array for id_, array in observation.inputs.items() if id_ not in random.values},
        hosts={call: value for call, value in observation.hosts.items() if call not in random.hosts},
    )


def _blind(reading: Seen, sized: bool) -> Seen:
    shape = () if sized else reading.shape
    return dataclasses.replace(reading, shape=shape, data=np.zeros(shape, reading.data.dtype))


__all__ = [
    "ALL_PARTS",
    "PLAIN_PARTS",
    "Capture",
    "CaptureOutcome",
    "Failure",
    "GraphPart",
    "Observation",
    "Ref",
    "Seen",
    "State",
    "blinded",
    "capture_from_json",
    "class_names",
    "failure_kind",
    "failure_of",
    "first_words",
    "from_json",
    "to_json",
]
