"""The Program: what a test body did, recorded once on the reference, to be replayed anywhere.

It is in static single assignment form: every tensor, module or other framework object that a body meets is a
numbered value.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from dual_object.errors import ProgramError
from dual_object.program.calls import Call, Input, op_name
from dual_object.program.printing import text
from dual_object.program.training import Training, clips
from dual_object.program.values import Array, Tree, from_json, refs, to_json

VERSION = 1


@dataclass(frozen=True, slots=True)
class Randomness:
    """What of a Program is random.

    Attributes:
        calls: indices of the calls that draw random numbers.
        values, gradients, state: what depends on them, by value number, leaf key and key of a parameter or buffer.
        sizes: numbers of the values whose shape depends on them, too, such as `x[torch.rand(3) > 0.5]`.
        hosts: indices of the calls whose host reads depend on them.
    """

    calls: tuple[int, ...]
    values: frozenset[int]
    sizes: frozenset[int]
    hosts: frozenset[int]
    gradients: frozenset[str]
    state: frozenset[str]

    def to_json(self) -> list[list[Any]]:
        """Sorted lists, one per field."""
        return [sorted(getattr(self, part.name)) for part in dataclasses.fields(self)]

    @classmethod
    def from_json(cls, data: list[list[Any]]) -> Randomness:
        """Rebuild what `to_json` gave."""
        calls, *sets = data
        return cls(tuple(calls), *map(frozenset, sets))


@dataclass(slots=True)
class Program:
    """What a body did: its inputs, its calls in order, what it returned, and where its backward starts.

    Attributes:
        inputs, calls: in the order of the body.
        outputs: the tree that the body returned, with a Ref for each framework object.
        cotangents: by the number of a returned differentiable tensor, the array that its backward starts from; empty
            means no backward.
        cotangent_strides: of some of them, how they lie in memory in an eager run (in elements); the others are
            contiguous.
        second_cotangents: by leaf key, the arrays from which the first gradients are differentiated again; empty means
            no second derivatives.
        leaves: numbers of the leaf tensors that the body made, inputs apart.
        watched: numbers of further tensors that an eager run shows at its end.
        inline: why only a replay in the test's own process can run this Program; None where any can.
        brief: an eager run leaves out which tensors share memory and what modules hold.
        random: what of it depends on random numbers; None where nothing does.
        training: how its calls fall into the steps of a training; None where they do not.
    """

    inputs: list[Input] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    outputs: Tree = None
    cotangents: dict[int, Array] = field(default_factory=dict)
    cotangent_strides: dict[int, tuple[int, ...]] = field(default_factory=dict)
    second_cotangents: dict[str, Array] = field(default_factory=dict)
    leaves: list[int] = field(default_factory=list)
    watched: list[int] = field(default_factory=list)
    inline: str | None = None
    brief: bool = False
    random: Randomness | None = None
    training: Training | None = None

    def modules(self) -> Iterator[Call]:
        """The calls that construct a module, those of a custom dual with state included."""
        return (call for call in self.calls if call.kind == "module" or (call.kind == "custom" and call.state))

    def free(self) -> Iterator[int]:
        """Numbers that no value of it has, in order."""
        taken = [x.id for x in self.inputs]
        taken += [id_ for call in self.calls for id_ in (*call.operands(), *call.results())]
        return itertools.count(max(taken, default=0) + 1)

    def ops(self) -> list[str]:
        """Names of the ops called, as `op_name` gives them, in order, without host reads of attributes."""
        return [op_name(call) for call in self.op_calls()]

    def reads_host(self) -> bool:
        """Whether the body was given a plain value, as by `x.item()`, against which the target's is held."""
        return any(call.out is not None and not refs(call.out) for call in self.calls)

    def op_calls(self) -> Iterator[Call]:
        """The calls of ops: without reads and writes of attributes, and without context managers. Of a training, those
        of its first forward and those that clip.
        """
        calls = self.calls
        if self.training is not None:
            end = self.training.steps[0].end
            calls = [*calls[: self.training.forward], *filter(clips, calls[self.training.forward : end])]
        return (call for call in calls if call.kind not in ("get", "set", "enter", "exit"))

    def __str__(self) -> str:
        return text(self)

    def to_json(self, arrays: list[Array]) -> dict[str, Any]:
        """The Program as JSON data; its arrays are appended to `arrays`."""
        return {
            "inputs": [
                [
                    *(x.id, x.name, to_json(x.data, arrays), x.dtype, x.requires_grad, x.strides, x.fill, x.seed),
                    *([] if x.layout is None and not x.offset else [to_json(x.layout, arrays)]),
                    *([x.offset] if x.offset else []),
                ]
                for x in self.inputs
            ],
            "calls": [
                [
                    call.kind,
                    call.op,
                    [to_json(arg, arrays) for arg in call.args],
                    {key: to_json(arg, arrays) for key, arg in call.kwargs.items()},
                    to_json(call.out, arrays),
                    {key: to_json(value, arrays) for key, value in call.state.items()},
                    call.raises,
                    call.custom,
                    *([call.refusal] if call.refusal else []),
                ]
                for call in self.calls
            ],
            "outputs": to_json(self.outputs, arrays),
            "cotangents": [[key, to_json(value, arrays)] for key, value in self.cotangents.items()],
            **({"strides": list(self.cotangent_strides.items())} if self.cotangent_strides else {}),
            "leaves": self.leaves,
            **({"watched": self.watched} if self.watched else {}),
            **({"brief": True} if self.brief else {}),
            **({"second": _stored(self.second_cotangents, arrays)} if self.second_cotangents else {}),
            **({} if self.random is None else {"random": self.random.to_json()}),
            **({} if self.training is None else {"training": self.training.to_json()}),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any], arrays: list[Array]) -> Program:
        """Rebuild what `to_json` gave; raises ProgramError where it is not that."""
        try:
            return cls(
                inputs=[
                    Input(
                        id_,
                        name,
                        from_json(values, arrays),
                        dtype,
                        requires_grad,
                        None if strides is None else tuple(strides),
                        fill,
                        seed,
                        *(from_json(item, arrays) for item in rest),
                    )
                    for id_, name, values, dtype, requires_grad, strides, fill, seed, *rest in data["inputs"]
                ],
                calls=[
                    Call(
                        kind,
                        op,
                        tuple([from_json(arg, arrays) for arg in args]),
                        {key: from_json(arg, arrays) for key, arg in kwargs.items()},
                        from_json(out, arrays),
                        {key: from_json(value, arrays) for key, value in state.items()},
                        tuple(raises),
                        None if custom is None else tuple(custom),
                        *refusal,
                    )
                    for kind, op, args, kwargs, out, state, raises, custom, *refusal in data["calls"]
                ],
                outputs=from_json(data["outputs"], arrays),
                cotangents={key: from_json(value, arrays) for key, value in data["cotangents"]},
                cotangent_strides={key: tuple(strides) for key, strides in data.get("strides", ())},
                leaves=data["leaves"],
                watched=data.get("watched", []),
                brief=data.get("brief", False),
                second_cotangents={key: from_json(value, arrays) for key, value in data.get("second", ())},
                random=None if data.get("random") is None else Randomness.from_json(data["random"]),
                training=None if data.get("training") is None else Training.from_json(data["training"]),
            )
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ProgramError(f"the stored Program is damaged: {error!r}") from error

    def save(self, path: Path, note: dict[str, Any] | None = None) -> None:
        """Write `path` (.json) and, beside it, its arrays (.npz); `note` is JSON data kept with it."""
        arrays: list[Array] = []
        data = {"version": VERSION, "text": str(self), "note": note or {}, **self.to_json(arrays)}
        path.write_text(json.dumps(data, indent=1))
        np.savez(path.with_suffix(".npz"), *arrays)

    @classmethod
    def load(cls, path: Path) -> tuple[Program, dict[str, Any]]:
        """Read what `save` wrote, the Program and its note; raises ProgramError naming the file when that fails."""
        try:
            data = json.loads(path.read_text())
            # Opened here: NumPy leaves a file that it cannot read open.
            with path.with_suffix(".npz").open("rb") as file, np.load(file, allow_pickle=False) as stored:
                arrays = [stored[f"arr_{i}"] for i in range(len(stored.files))]
        except (OSError, EOFError, ValueError, KeyError, BadZipFile, zlib.error) as error:
            raise ProgramError(f"{path} cannot be read as a stored Program: {error}") from error
        if not isinstance(data, dict) or data.get("version") != VERSION:
            version = data.get("version") if isinstance(data, dict) else None
            raise ProgramError(f"{path} has version={version!r}, but should have {VERSION}: record it again")
        note = data.get("note")
        return cls.from_json(data, arrays), note if isinstance(note, dict) else {}


def _stored(cotangents: dict[str, Array], arrays: list[Array]) -> list[Any]:
    return [[key, to_json(value, arrays)] for key, value in cotangents.items()]


__all__ = ["Program", "Randomness"]
