"""A lowered Program beside the one that it stands for, and what is seen of the one told of the other."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from dual_object.program.program import Program
from dual_object.program.values import Array, refs
from dual_object.replay.observation import Failure, Observation, Seen

_NUMBER = re.compile(r"\{(\d+)\}")
#: How it is told that a call gave back, or did not, the very tensor that it was given.
_IDENTITY = re.compile(r"\bitself\b")


class Place(NamedTuple):
    """Where a call of a lowered Program comes from: the original's call, and the op by which that makes it, empty where
    it is that call itself.
    """

    call: int
    within: str = ""


class Held(NamedTuple):
    """A parameter or buffer of a module.

    Attributes:
        number: that of its value in the lowered Program; None where no call takes it, so that nothing can befall it.
        start: what the module starts with; None of one that the module was given, or has been given since.
        seen: what the reference shows of it at the end.
    """

    number: int | None
    start: Array | None
    seen: Seen


@dataclass(frozen=True)
class Lowering:
    """A Program without modules, in place of one with them.

    Attributes:
        original, program: the two.
        shown: what the reference has shown of the original; None where it has no modules, and is its own lowering.
        places: where each call of the lowered Program comes from.
        numbers: what values of the original are called in the other, where that is not the same.
        parameters, buffers: what the original's modules hold, by key.
        left: the values of the lowered Program's further inputs when a first run is over.
    """

    original: Program
    program: Program
    shown: Observation | None = None
    places: Sequence[Place] = ()
    numbers: Mapping[int, int] = field(default_factory=dict)
    parameters: Mapping[str, Held] = field(default_factory=dict)
    buffers: Mapping[str, Held] = field(default_factory=dict)
    left: Sequence[Array] = ()

    def gradient_keys(self, keys: Iterable[str]) -> list[str]:
        """The leaf keys of the lowered Program for those of the original, each once."""
        return list(dict.fromkeys(filter(None, map(self._leaf, keys))))

    def arrays(self, again: Sequence[Array]) -> list[Array]:
        """The values of the inputs at a second call, for those of the original's: buffers go on from the first one."""
        return [*again, *self.left]

    def place(self, call: int | None) -> Place | None:
        """Where a call of the lowered Program comes from."""
        return None if call is None or self.shown is None else self.places[call]

    def told(self, call: int | None, message: str) -> tuple[int | None, str]:
        """What a call of the lowered Program says, as a word of the original's call."""
        place = self.place(call)
        if place is None:
            return call, message
        return place.call, f"in {place.within}: {message}" if place.within else message

    def restored(self, observation: Observation, asked: Collection[str] | None = None) -> Observation:
        """What was seen of the lowered Program, in terms of the original one; of a static graph the gradients that were
        `asked` for.

        What a module is besides its parameters and buffers nobody has seen: such an observation shows no `states`.
        """
        if self.shown is None:
            return observation
        restored = replace(
            observation,
            failures=[failure for one in observation.failures if (failure := self._failure(one))],
            backward_failure=self._failure(observation.backward_failure),
            second_failure=self._failure(observation.second_failure),
            outputs=self._outputs(observation),
            again=None if observation.again is None else self.restored(observation.again, asked),
        )
        if observation.ended:
            return restored
        known = {x.id for x in self.original.inputs}
        restored.inputs = {id_: array for id_, array in observation.inputs.items() if id_ in known}
        restored.gradients = self._gradients(observation.gradients, asked)
        restored.second = {
            key: observation.second[leaf]
            for key in self._leaves()
            if (leaf := self._leaf(key)) is not None and leaf in observation.second
        }
        restored.buffers = {key: self._buffer(held, observation) for key, held in self._own(self.buffers)}
        restored.parameters = dict(self._changed(observation))
        restored.states, restored.saved = {}, {}
        restored.shows = observation.shows - {"states"}
        restored.shared, restored.unplaced = self._memory(observation)
        restored.hosts, restored.structures = {}, {}
        self._tell_calls(observation, restored)
        return restored

    def number(self, id_: int) -> int:
        """What the lowered Program calls a value of the original."""
        return self.numbers.get(id_, id_)

    def _leaf(self, key: str) -> str | None:
        """The lowered Program's key for a leaf of the original; None where no call takes that."""
        if "." not in key:
            return str(self.number(int(key)))
        number = self.parameters[key].number
        return None if number is None else str(number)

    def _leaves(self) -> list[str]:
        """The keys of the original's leaves, in the order of its observations."""
        own = [*(x.id for x in self.original.inputs), *self.original.leaves]
        return [*map(str, own), *self.parameters]

    def _outputs(self, observation: Observation) -> dict[int, Seen]:
        shown = dict.fromkeys([*refs(self.original.outputs), *self.original.watched])
        outputs = observation.outputs
        return {id_: outputs[number] for id_ in shown if (number := self.number(id_)) in outputs}

    def _gradients(self, gradients: Mapping[str, Seen | None], asked: Collection[str] | None) -> dict[str, Seen | None]:
        if asked is not None:
            leaves = ((key, self._leaf(key)) for key in asked)
            return {key: gradients[leaf] for key, leaf in leaves if leaf is not None and leaf in gradients}
        restored: dict[str, Seen | None] = {}
        for key in self._leaves():
            leaf = self._leaf(key)
            if leaf is not None and leaf in gradients:
                restored[key] = gradients[leaf]
            elif "." in key:  # a parameter has a gradient or none, whatever becomes of it
                restored[key] = None
        return restored

    def _own(self, held: Mapping[str, Held]) -> Iterable[tuple[str, Held]]:
        """Those that modules have made for themselves."""
        return ((key, one) for key, one in held.items() if one.start is not None)

    def _buffer(self, held: Held, observation: Observation) -> Seen:
        return held.seen if held.number is None else observation.outputs.get(held.number, held.seen)

    def _changed(self, observation: Observation) -> Iterable[tuple[str, Seen]]:
        """The parameters that have other values than their modules start with, as far as inputs are seen to change."""
        if self.original.brief or not {"inputs", "parameters"} <= observation.shows:
            return
        data = {x.id: x.data for x in self.program.inputs} | observation.inputs
        for key, held in self._own(self.parameters):
            now = held.seen.data if held.number is None else data.get(held.number, held.seen.data)
            if held.start is not None and now.tobytes() != held.start.tobytes():
                yield key, replace(held.seen, data=now)

    def _memory(self, observation: Observation) -> tuple[list[tuple[int, ...]], tuple[int, ...]]:
        """What shares memory, and of what that cannot be told, by the original's numbers."""
        own: dict[int, list[int]] = defaultdict(list)
        for id_ in dict.fromkeys([*(x.id for x in self.original.inputs), *refs(self.original.outputs)]):
            own[self.number(id_)].append(id_)
        groups = [sorted(id_ for number in group for id_ in own.get(number, ())) for group in observation.shared]
        unplaced = [id_ for number in observation.unplaced for id_ in own.get(number, ())]
        return sorted(tuple(group) for group in groups if len(group) > 1), tuple(unplaced)

    def _failure(self, failure: Failure | None) -> Failure | None:
        if failure is None:
            return None
        call, message = self.told(failure.call, failure.message)
        return replace(failure, call=call, message=message)

    def _tell_calls(self, observation: Observation, restored: Observation) -> None:
        """What calls gave to Python, and how what they returned is built; of calls within a module's in words."""
        names = {number: id_ for id_, number in self.numbers.items()}
        known = {x.id for x in self.original.inputs} | {id_ for call in self.original.calls for id_ in call.results()}

        def named(match: re.Match[str]) -> str:
            number = int(match[1])
            id_ = names.get(number, number)
            return f"{{{id_}}}" if id_ in known else "another value"

        for index, value in observation.hosts.items():
            call, within = self.places[index]
            if within:
                restored.structures.setdefault(call, f"gives Python other values in {within}")
            else:
                restored.hosts[call] = value
        for index, words in observation.structures.items():
            place = self.places[index]
            if place.within and _IDENTITY.search(words):
                continue  # which of its tensors are one within a module, nobody sees
            _, message = self.told(index, _NUMBER.sub(named, words))
            restored.structures.setdefault(place.call, message)


__all__ = ["Held", "Lowering", "Place"]
