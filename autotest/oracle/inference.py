"""Shape inference: PyTorch's own word on the shape, dtype and strides of each result, held against what it computed.

The reference is asked about itself, and the target not at all. What its shape inference (the device meta) says wrong,
every tracer and compiler that asks it is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from autotest.compare.difference import Names
from autotest.compare.metadata import strides_of
from dual_object.program.calls import Input, op_name
from dual_object.program.program import Program
from dual_object.program.shortened import first_forward
from dual_object.program.values import PLAIN, Name, Ref, Tree
from dual_object.replay.adapter import Inferred, NotInferred, Reference
from dual_object.replay.observation import Observation, Seen
from dual_object.replay.replay import QuietReplay

#: In what the two may differ; the first of them that does is told.
Aspect = Literal["dtype", "shape", "strides"]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A call of a case of which eager PyTorch and its shape inference do not give the same.

    Attributes:
        op: the call's.
        key: the case.
        value: the result's name in the Program.
        eager, meta: what each says of it.
    """

    op: str
    aspect: Aspect
    key: str
    value: str
    eager: str
    meta: str
    program: Program

    def row(self) -> Mapping[str, object]:
        """What the records keep; the Program says of inputs how they lie."""
        names = Names(self.program)
        return {
            "op": self.op,
            "aspect": self.aspect,
            "key": self.key,
            "value": self.value,
            "eager": self.eager,
            "meta": self.meta,
            "inputs": [f"{names.value(x.id)}: {x.dtype}, shape {x.data.shape}" for x in self.program.inputs],
            "program": str(self.program),
        }


class ShapeInference:
    """What shape inference says of the cases of one test. To ask it takes as long as the case itself, so a case is only
    asked about that shows something new: its calls, whatever their numbers, with inputs that lie in a new way, or with
    inputs of new dtypes.
    """

    def __init__(self, reference: Reference) -> None:
        self._reference = reference
        self._met: set[object] = set()
        self._asked = 0
        self._refused: Counter[str] = Counter()
        self._found: dict[tuple[str, Aspect], Disagreement] = {}

    def take(self, key: str, program: Program, observation: Observation) -> None:
        """Ask about the case `key`, of which the reference has shown `observation`, where it shows something new: of a
        training about its first forward.
        """
        if program.training is not None:
            program = first_forward(program)
        calls = _calls(program)
        shown = {(calls, *map(_lying, program.inputs)), (calls, *(x.dtype for x in program.inputs))}
        if shown <= self._met:
            return
        self._met |= shown
        try:
            inferred = self._reference.infer(program)
        except NotInferred as reason:
            self._refused[str(reason)] += 1
            return
        self._asked += 1
        if _unlike(observation.outputs, inferred):
            for found in self._blamed(key, program, inferred):
                self._found.setdefault((found.op, found.aspect), found)

    def _blamed(self, key: str, program: Program, inferred: Mapping[int, Inferred]) -> Iterator[Disagreement]:
        """The calls that are told wrong. Of those that take what was told wrong already, nothing is known; of a tensor
        that is written in place, the call that made it is told.
        """
        made = dict.fromkeys(id_ for call in program.calls for id_ in call.results())
        watching = replace(program, watched=[*made], cotangents={}, second_cotangents={})
        with self._reference.random_apart():
            eager = QuietReplay(self._reference, watching, side="reference").run().outputs
        unlike = _unlike(eager, inferred)
        met: set[int] = set()
        for call in program.calls:
            wrong = [id_ for id_ in call.results() if id_ in unlike and id_ not in met]
            met.update(call.results())
            if wrong and unlike.keys().isdisjoint({*call.operands()} - {*wrong}):
                aspect, value = unlike[wrong[0]], Names(program).value(wrong[0])
                words = _words(eager[wrong[0]], aspect), _words(inferred[wrong[0]], aspect)
                yield Disagreement(op_name(call), aspect, key, value, *words, program)

    def record(self) -> Mapping[str, object]:
        """What the records keep at the end of a test."""
        found = [disagreement.row() for disagreement in self._found.values()]
        return {"asked": self._asked, "refused": dict(self._refused), "disagreements": found}


def _unlike(eager: Mapping[int, Seen], inferred: Mapping[int, Inferred]) -> dict[int, Aspect]:
    """In what the two differ, by the numbers of the tensors of which they do."""
    both = ((id_, _aspect(seen, inferred[id_])) for id_, seen in eager.items() if id_ in inferred)
    return {id_: aspect for id_, aspect in both if aspect is not None}


def _aspect(eager: Seen, meta: Inferred) -> Aspect | None:
    if eager.dtype != meta.dtype:
        return "dtype"
    if eager.shape != meta.shape:
        return "shape"
    return None if eager.strides == meta.strides else "strides"


def _words(tensor: Seen | Inferred, aspect: Aspect) -> str:
    return str(strides_of(tensor.shape, tensor.strides) if aspect == "strides" else getattr(tensor, aspect))


def _calls(program: Program) -> object:
    return tuple((call.kind, call.op, _form(call.args), _form(tuple(call.kwargs.items()))) for call in program.calls)


def _lying(x: Input) -> object:
    """How an input lies: the order of its dimensions in memory, and whether any have no element, or one."""
    shape, strides = x.data.shape, x.strides or ()
    order = tuple(sorted(range(len(strides)), key=lambda dim: strides[dim]))
    return len(shape), order, 0 in strides, 0 in shape, 1 in shape


def _form(tree: Tree) -> Any:
    """An argument without its numbers, which hardly ever say how a result lies."""
    kind = type(tree)
    if kind is tuple or kind is list:
        return tuple(_form(item) for item in tree)
    if kind is Ref or kind is Name or (kind in PLAIN and kind not in (int, float)):
        return tree
    return kind


__all__ = ["Aspect", "Disagreement", "ShapeInference"]
