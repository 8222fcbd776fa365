"""A divergence: a difference, the call it is blamed on, and the row that the records keep of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from autotest.compare.difference import Difference
from autotest.compare.evidence.call_graph import call_graph
from autotest.compare.evidence.evidence import Sides, evidence
from autotest.compare.evidence.loss_curves import Trained, loss_curves
from autotest.compare.fingerprint import CONFIG, REFUSAL
from autotest.compare.kinds import DEADLY, KINDS, REFUSALS
from dual_object.program.calls import Call, op_name
from dual_object.program.inputs import input_lines
from dual_object.program.printing import lines, names
from dual_object.program.program import Program
from dual_object.program.training import prepares
from dual_object.program.values import Ref
from dual_object.refusals import refusal
from dual_object.replay.adapter import TargetInfo

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Stages:
    """The executors that a target lists, by their names as targets, in a case that diverges.

    Attributes:
        first: the first of them that shows the difference; `also`: the later ones that show the same.
        outcomes: what came of each: `right`, `wrong`, `refused it`, and the like; empty where no graph is concerned.
    """

    first: str
    also: tuple[str, ...] = ()
    outcomes: Mapping[str, str] = field(default_factory=dict)


#: What may become of a call that PyTorch refuses: that an op takes one that it should not says nothing of the others.
_OF_REFUSED = frozenset({"accepts_invalid", "exception_class", *DEADLY})
#: What makes a fingerprint: target, phase, kind, op and facts.
Identity = tuple[str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class Divergence:
    """A difference of one case, and the call that is blamed for it.

    Attributes:
        program: the Program that showed it, and `sides` what each side gave for that.
        call: index of the blamed call in `program`; None where no single call shows the difference.
        alone: that call as a Program of its own, where it was run so.
        last_words: what a target that died printed last.
        facts: what the inputs must have for the difference to show, such as `tie` or `strided`, and which arguments
            the call, such as `p=`.
        present: of a result that does not come back in each run, all that the facts might have been.
        stages: which executor shows it, where the target lists several; None where it is one target.
        trained: the training that it came up in; None where the case does not train.
    """

    difference: Difference
    program: Program
    call: int | None
    alone: Program | None = None
    sides: Sides = field(default_factory=Sides)
    last_words: str | None = None
    facts: tuple[str, ...] = ()
    present: frozenset[str] = frozenset()
    stages: Stages | None = None
    trained: Trained | None = field(default=None, compare=False, repr=False)

    @property
    def proof(self) -> Program:
        """The least Program known to show the divergence."""
        return self.program if self.alone is None else self.alone

    @property
    def proof_call(self) -> int | None:
        """Index of the blamed call in the proof."""
        return self.call if self.alone is None else len(self.alone.calls) - 1

    @property
    def shown(self) -> Row:
        """What shows the divergence: the blamed call's index in the proof and in the whole Program, the part that was
        compared, and its key.
        """
        difference = self.difference
        return {
            "call": self.proof_call,
            "program_call": self.call,
            "part": difference.part,
            "key": difference.key,
        }

    @property
    def op(self) -> str:
        """The blamed op, as people type it; `program` where no single call is to blame."""
        if self.difference.blamed:
            return self.difference.blamed
        return "program" if self.call is None else op_of(self.program, self.call)

    def fingerprint(self, target: str) -> str:
        """`target/phase/kind/op/facts`, such as `oneflow/eager_forward/value/relu/float32,tie`. Where the target lists
        several executors, it is told by the name of the first that shows the difference.
        """
        return "/".join(self._identity(target))

    def fingerprints(self, target: str) -> list[str]:
        """That one, and the same of the later executors that show the difference, too."""
        own, *rest = self._identity(target)
        return ["/".join([name, *rest]) for name in (own, *(self.stages.also if self.stages else ()))]

    def _identity(self, target: str) -> Identity:
        name = target if self.stages is None else self.stages.first
        return name, self.difference.phase, self.difference.kind, self.op, self._facts()

    def _facts(self) -> str:
        program, call = self.proof, self.proof_call
        buffer = [self.difference.buffer] if self.difference.buffer else []
        facts = ",".join([_dtype(program, call), *self.facts, *buffer])
        if call is not None and KINDS[self.difference.kind].of_form:
            facts += "".join(f",{name}=" for name in sorted(program.calls[call].kwargs))
            facts += ",method" if program.calls[call].kind == "method" else ""
        if call is not None and self.difference.kind in _OF_REFUSED and program.calls[call].refusal:
            facts += f",{REFUSAL}{refusal(program.calls[call].raises, program.calls[call].refusal)}"
        facts += f",{CONFIG}{self.difference.configuration}" if self.difference.configuration else ""
        return f"{facts},again" if self.difference.again else facts

    def row(self, target: str, test: str, case_key: str) -> Row:
        """The row of the records and of `summary.json`, without its evidence."""
        message = f"{self.op}: {self.difference.sentence}"
        row = new_row(self._identity(target), test, case_key, message)
        if self.present:
            row = {**row, "present": sorted(self.present)}
        return {**row, "stages": {**self.stages.outcomes}} if self.stages and self.stages.outcomes else row

    def translated(self, message: str, info: TargetInfo) -> str:
        """A message with what the blamed call is on the target, where that has another name or other arguments."""
        words = "" if self.call is None else info.translation(self.program.calls[self.call])
        return f"{message} [on {info.name}: {words}]" if words else message

    def evidence(self, types: Callable[[], Mapping[int, str]] | None = None) -> Row:
        """What shows the divergence to people; as a graph, too, where there is somebody to ask what its values are."""
        difference, graph = self.difference, None
        if types is not None:
            graph = call_graph(self.program, self.call, difference.part, types)
        spelled = names(self.program)
        return {
            "program": str(self.program),
            "inputs": input_lines(self.program),
            "blamed_line": blamed_line(self.program, self.call),
            "last_words": self.last_words,
            **evidence(difference, self.sides, {spelled[x.id]: x.data for x in self.program.inputs}),
            **({} if graph is None else {"graph": graph}),
            **({} if self.trained is None else {"losses": loss_curves(self.trained)}),
        }


def new_row(identity: Identity, test: str, case_key: str, message: str, replay: str | None = None) -> Row:
    """A new divergence as the records keep it, without evidence; `replay` is the command that shows it again, by
    default `autotest replay`.
    """
    target, phase, kind, op, _ = identity
    fingerprint = "/".join(identity)
    id_ = fingerprint_id(fingerprint)
    return {
        "id": id_,
        "fingerprint": fingerprint,
        "target": target,
        "test": test,
        "op": op,
        "phase": phase,
        "kind": kind,
        "level": "refuses" if kind in REFUSALS else "wrong",
        "case_key": case_key,
        "message": message,
        "replay": replay or f"autotest replay {id_}",
        "reason": None,
        "evidence": None,
    }


def fingerprint_id(fingerprint: str) -> str:
    """Eight hexadecimal digits that stand for a fingerprint."""
    return hashlib.sha256(fingerprint.encode()).hexdigest()[:8]


def op_of(program: Program, index: int) -> str:
    """The op behind a call; a module's own name for a call of the module, an optimizer's for its step, but not for
    `zero_grad`, which all of them share.
    """
    call = program.calls[index]
    if (
        call.kind in ("method", "training")
        and call.op != "zero_grad"
        and program.training is not None
        and type(call.args[0]) is Ref
    ):
        made = next((one for one in program.calls[:index] if one.out == call.args[0]), None)
        if made is not None and prepares(made):
            return op_name(made)
    return op_name(call)


def blamed_line(program: Program, call: int | None) -> int | None:
    """The line, counted from 1, of the printed Program that shows a call."""
    if call is None:
        return None
    for number, line in enumerate(lines(program), 1):
        if line.call == call:
            return number
    return None


def _dtype(program: Program, call: int | None) -> str:
    """The dtype of the blamed call's first tensor, found through the calls that made it."""
    inputs = {x.id: x for x in program.inputs}
    if call is None or program.training is not None:  # what an optimizer is given has gone through modules
        dtypes = [x.dtype for x in program.inputs]
        return dtypes[0] if dtypes else "none"
    pending = program.calls[call].operands()
    # What is written in place has the dtype that it was made with.
    made: dict[int, Call] = {id_: step for step in reversed(program.calls[:call]) for id_ in step.results()}
    met: set[int] = set()
    while pending:
        id_ = pending.pop(0)
        if id_ in inputs:
            return inputs[id_].dtype
        if id_ in made and id_ not in met:
            met.add(id_)
            pending += made[id_].operands()
    return "none"
