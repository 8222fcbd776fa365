"""Reading a replay: what its values, gradients, buffers and inputs have become."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

from dual_object.program.program import Program
from dual_object.program.strides import address, laid
from dual_object.program.values import Array, Ref, refs
from dual_object.replay.adapter import Adapter
from dual_object.replay.gradients import Functional, Tape, functional
from dual_object.replay.observation import ALL_PARTS, GraphPart, Observation, Seen, State, failure_of, second_failure
from dual_object.replay.second_derivatives import differentiate


class Values:
    """The values of one run by number, its input tensors, the memory those live in, and its modules.

    Where the reference gives an input itself (`y = x.relu_()`) and the target another tensor, that tensor takes the
    input's number in `by_id`. What becomes of the input is still seen, for `inputs` keeps it.
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
    tensors: dict[str, Any] = {}
    for x in program.inputs:
        tensor = values.inputs[x.id]
        if adapter.place(tensor)[2]:
            tensors[str(x.id)] = tensor
    for id_ in program.leaves:
        tensors[str(id_)] = values.by_id[id_]
    for id_, module in values.modules.items():
        for name, parameter in adapter.parameters(module).items():
            tensors[f"{id_}.{name}"] = parameter
    return tensors


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
    states: dict[int, State] = {}
    for id_, module in values.modules.items():
        held = {**adapter.parameters(module), **adapter.buffers(module)}
        described = {key: adapter.describe(tensor) for key, tensor in held.items()}
        if described:
            states[id_] = {key: (dtype, shape, grad) for key, (dtype, shape, _, grad) in described.items()}
    return states


def memory(
    adapter: Adapter, program: Program, values: Values, outputs: Mapping[int, Any]
) -> tuple[list[tuple[int, ...]], tuple[int, ...]]:
    """Which inputs and outputs (by number) lie in one memory, and of which that cannot be told."""
    places: dict[int, list[int]] = {}
    unplaced: list[int] = []
    inputs = {x.id: values.inputs[x.id] for x in program.inputs if x.id not in outputs}
    moved = any(call.kind == "set" for call in program.calls)  # `x.data = y` gives an input another memory
    for id_, tensor in {**inputs, **outputs}.items():
        buffer = None if moved else values.buffers.get(id_)
        place = adapter.storage(tensor) if buffer is None else address(buffer)
        if place is None:
            unplaced.append(id_)
        else:
            places.setdefault(place, []).append(id_)
    return sorted(tuple(sorted(ids)) for ids in places.values() if len(ids) > 1), tuple(unplaced)


#: By which a body may make a leaf of an input.
_ASKING = frozenset({"requires_grad_", "requires_grad"})
#: What an eager run does not show where a target lacks an aspect.
_UNSEEN: Mapping[str, frozenset[GraphPart]] = MappingProxyType(
    {
        "layout": frozenset({"layout"}),
        "sharing": frozenset({"sharing"}),
        "standing": frozenset({"standing"}),
        "inputs": frozenset({"inputs", "parameters"}),
        "second": frozenset({"second"}),
    }
)


def shown_parts(adapter: Adapter) -> frozenset[GraphPart]:
    """What an eager run on this target shows."""
    lacks = adapter.lacks
    return ALL_PARTS.difference(*(_UNSEEN[aspect] for aspect in lacks if aspect in _UNSEEN)) if lacks else ALL_PARTS


class Finished:
    """A run whose last call has been asked for: what is left is to read what it shows.

    Reading waits for the target, so that the tensors of many runs are best read together: `tensors` are what is to be
    read, `fill` takes what was seen of them.
    """

    __slots__ = (
        "_adapter",
        "_buffers",
        "_gradients",
        "_ids",
        "_observation",
        "_parameters",
        "_program",
        "_second",
        "_values",
        "tensors",
    )

    def __init__(self, adapter: Adapter, program: Program, values: Values, observation: Observation) -> None:
        self._adapter, self._program, self._values, self._observation = adapter, program, values, observation
        self.tensors: list[Any] = []
        self._ids: list[int] = []
        self._gradients: dict[str, Any] = {}
        self._buffers: dict[str, Any] = {}
        self._parameters: dict[str, tuple[Any, Array]] = {}
        self._second: dict[str, Any] = {}
        by_id = values.by_id
        if observation.ended:
            if program.training is not None:  # it shows how far it came
                losses = (id_ for ids in program.training.losses() for id_ in ids)
                self._ids = [id_ for id_ in losses if isinstance(by_id.get(id_), adapter.tensor_type)]
                self.tensors = [by_id[id_] for id_ in self._ids]
            return
        differentiable = functional(adapter) if program.cotangents else None
        if program.cotangents and differentiable is None:
            self._backward(cast(Tape, adapter))
        returned = dict.fromkeys([*refs(program.outputs), *program.watched])
        self._ids = [id_ for id_ in returned if isinstance(by_id.get(id_), adapter.tensor_type)]
        if differentiable is not None:
            self._differentiate(differentiable)
        elif functional(adapter) is None:
            self._gather(cast(Tape, adapter))
        self._buffers = module_buffers(adapter, program, values)
        self.tensors += [by_id[id_] for id_ in self._ids]
        self.tensors += [gradient for gradient in self._gradients.values() if gradient is not None]
        self.tensors += [gradient for gradient in self._second.values() if gradient is not None]
        self.tensors += self._buffers.values()
        if values.modules and not program.brief:
            self._parameters = module_parameters(adapter, program, values)
            self.tensors += [parameter for parameter, _ in self._parameters.values()]

    @property
    def _second_wanted(self) -> bool:
        return bool(self._program.second_cotangents) and "second" not in self._adapter.lacks

    def _backward(self, tape: Tape) -> None:
        by_id, cotangents = self._values.by_id, self._program.cotangents
        # Where the reference has a tensor, the target may have given anything: a module, for one.
        tensors = {id_: by_id[id_] for id_ in cotangents if isinstance(by_id.get(id_), self._adapter.tensor_type)}
        starts = [id_ for id_, tensor in tensors.items() if self._adapter.describe(tensor)[3]]
        if not starts:
            return
        outputs, arrays = [by_id[id_] for id_ in starts], [cotangents[id_] for id_ in starts]
        if self._program.cotangent_strides:
            strides = self._program.cotangent_strides
            arrays = [laid(array, strides.get(id_)) for id_, array in zip(starts, arrays, strict=True)]
        try:
            if self._second_wanted:
                tape.backward(outputs, arrays, create_graph=True)
            else:
                tape.backward(outputs, arrays)
        except Exception as error:
            self._observation.backward_failure = failure_of(error, None)
            if self._second_wanted:  # without a graph of its own it may still be had
                self._observation.second_failure = second_failure(error)

    def _gather(self, tape: Tape) -> None:
        """What a backward has left in the leaves, and what one from there leaves."""
        leaves = leaf_tensors(self._adapter, self._program, self._values)
        self._gradients = {key: tape.gradient(leaf) for key, leaf in leaves.items()}
        if self._second_wanted and self._observation.backward_failure is None:
            try:
                self._second = differentiate(
                    self._adapter, tape, leaves, self._gradients, self._program.second_cotangents
                )
            except Exception as error:
                self._observation.second_failure = second_failure(error)

    def _differentiate(self, functions: Functional) -> None:
        """The gradients of the whole Program, and theirs."""
        program = self._program
        asked = {ref for call in program.calls if call.op in _ASKING for ref in call.operands()}
        inputs = (str(x.id) for x in program.inputs if x.requires_grad or x.id in asked)
        keys = [*inputs, *map(str, program.leaves)]
        try:
            self._gradients = {**dict.fromkeys(keys), **functions.gradients(program, keys, 1)}
        except Exception as error:
            self._observation.backward_failure = failure_of(error, None)
            return
        if self._second_wanted:
            try:
                self._second = {**functions.gradients(program, keys, 2)}
            except Exception as error:
                self._observation.second_failure = second_failure(error)

    def fill(self, readings: Iterator[Seen]) -> Observation:
        """The observation, from what was seen of `tensors` in order; the target must have been waited for."""
        observation = self._observation
        if observation.ended:
            observation.outputs = {id_: next(readings) for id_ in self._ids}
            return observation
        adapter, program, values = self._adapter, self._program, self._values
        shows = observation.shows = shown_parts(adapter)
        observation.outputs = {id_: next(readings) for id_ in self._ids}
        for id_, output in observation.outputs.items():
            output.strides, output.offset, output.leaf = adapter.place(values.by_id[id_])
        for key, gradient in self._gradients.items():
            reading = observation.gradients[key] = None if gradient is None else next(readings)
            if reading is not None:
                reading.strides = adapter.place(gradient)[0]
        observation.second = {
            key: None if gradient is None else next(readings) for key, gradient in self._second.items()
        }
        observation.buffers = {key: next(readings) for key in self._buffers}
        for key, (_, start) in self._parameters.items():
            parameter = next(readings)
            if parameter.data.dtype != start.dtype or parameter.data.tobytes() != start.tobytes():
                observation.parameters[key] = parameter
        if "inputs" in shows:
            observation.inputs = mutated(adapter, program, values)
        if program.brief:
            return observation
        if values.modules:
            observation.states = module_states(adapter, values)
            keys = {id_: tuple(sorted(adapter.saved(module))) for id_, module in values.modules.items()}
            observation.saved = {id_: saved for id_, saved in keys.items() if saved}
        returned = refs(program.outputs)
        outputs = {id_: values.by_id[id_] for id_ in self._ids if id_ in returned}
        observation.shared, observation.unplaced = memory(adapter, program, values, outputs)
        return observation

    def unreadable(self, error: Exception) -> Observation:
        """The observation of a run of which something cannot be read: it ends where that was made, else at its end."""
        calls = self._program.calls
        made = {id_: index for index, call in enumerate(calls) for id_ in call.results()}
        lost = (made.get(id_) for id_ in self._ids if not _readable(self._adapter, self._values.by_id[id_]))
        failure = failure_of(error, next(lost, len(calls) - 1))
        failure.message = f"what it has given cannot be read: {failure.message}"
        self._observation.failures.append(failure)
        self._observation.ended = True
        return self._observation


def observe(finished: Sequence[Finished], adapter: Adapter) -> list[Observation]:
    """Read everything that the runs show, at once, and wait until whatever they asked for has run."""
    try:
        readings = iter(see(adapter, [tensor for run in finished for tensor in run.tensors]))
        adapter.synchronize()  # after reading, which waits too: waiting twice costs twice where waiting is busy
    except ValueError as error:
        # A target may give a tensor of a negative size, which NumPy refuses: that is a failure of the run that has it,
        # not of the process, as a device that is lost or memory that was overwritten.
        if len(finished) == 1:
            return [finished[0].unreadable(error)]
        return [observation for run in finished for observation in observe([run], adapter)]
    return [run.fill(readings) for run in finished]


def _readable(adapter: Adapter, tensor: Any) -> bool:
    try:
        see(adapter, [tensor])
    except ValueError:
        return False
    return True


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
