"""A divergence: a difference, the call it is blamed on, and the row that the records keep of it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autotest.comparison import Difference
from dual_object.printing import lines
from dual_object.program import Call, Program, op_name

Row = Mapping[str, Any]

#: Kinds that tell how an op may be called: there the form of the call discriminates, its keywords and method against
#: function.
_FORM_KINDS = frozenset({"exception", "unsupported", "structure", "accepts_invalid", "exception_class"})


@dataclass(frozen=True, slots=True)
class Divergence:
    """What one case shows, blamed. `call` is the index in `program` of the diverging call, None where no single one
    shows it. `alone` is that call as a Program of its own, where it was run so.
    """

    difference: Difference
    program: Program
    call: int | None
    alone: Program | None = None

    @property
    def proof(self) -> Program:
        """The least Program known to show the divergence."""
        return self.program if self.alone is None else self.alone

    @property
    def op(self) -> str:
        """The blamed op, as people type it; `program` where no single call is to blame."""
        return "program" if self.call is None else op_of(self.program, self.call)

    def fingerprint(self, target: str) -> str:
        """`target/phase/kind/op/facts`."""
        difference = self.difference
        return "/".join([target, difference.phase, difference.kind, self.op, self._facts()])

    def _facts(self) -> str:
        program, call = (self.program, self.call) if self.alone is None else (self.alone, len(self.alone.calls) - 1)
        facts = _facts(program, call)
        if call is not None and self.difference.kind in _FORM_KINDS:
            facts += "".join(f",{name}=" for name in sorted(program.calls[call].kwargs))
            facts += ",method" if program.calls[call].kind == "method" else ""
        return facts

    def row(self, target: str, test: str, case_key: str) -> Row:
        """The row of the records and of `summary.json`."""
        fingerprint = self.fingerprint(target)
        id_ = fingerprint_id(fingerprint)
        return {
            "id": id_,
            "fingerprint": fingerprint,
            "target": target,
            "test": test,
            "op": self.op,
            "phase": self.difference.phase,
            "kind": self.difference.kind,
            "level": "refuses" if self.difference.kind in ("missing", "unsupported") else "wrong",
            "case_key": case_key,
            "message": f"{self.op}: {self.difference.message}",
            "replay": f"autotest replay {id_}",
            "program": str(self.program),
            "worst": worst_rows(self.difference),
            "blamed_line": blamed_line(self.program, self.call),
        }


def fingerprint_id(fingerprint: str) -> str:
    """Eight hexadecimal digits that stand for a fingerprint."""
    return hashlib.sha256(fingerprint.encode()).hexdigest()[:8]


def op_of(program: Program, index: int) -> str:
    """The op behind a call; a module's own name for a call of the module."""
    return op_name(program.calls[index])


def blamed_line(program: Program, call: int | None) -> int | None:
    """The line, counted from 1, of the printed Program that shows a call."""
    if call is None:
        return None
    for number, line in enumerate(lines(program), 1):
        if line.call == call:
            return number
    return None


def worst_rows(difference: Difference) -> Sequence[Row]:
    """The worst elements as plain numbers; NaN and infinities as text, for JSON has none."""
    return [
        {
            "index": list(element.index),
            "reference": _plain(element.reference),
            "actual": _plain(element.actual),
            "absolute": _plain(_absolute(element.reference, element.actual)),
            "relative": _plain(_relative(element.reference, element.actual)),
        }
        for element in difference.worst
    ]


def _absolute(reference: Any, actual: Any) -> float:
    return abs(actual - reference) if _finite(reference, actual) else math.nan


def _relative(reference: Any, actual: Any) -> float:
    if not _finite(reference, actual):
        return math.nan
    error = abs(actual - reference)
    return error / abs(reference) if reference else (math.inf if error else 0.0)


def _finite(*values: Any) -> bool:
    return all(not isinstance(value, complex) and math.isfinite(value) for value in values)


def _plain(value: Any) -> Any:
    if isinstance(value, complex):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _facts(program: Program, call: int | None) -> str:
    """What discriminates: the dtype of the blamed call's first tensor, found through the calls that made it, and the
    layout.
    """
    inputs = {x.id: x for x in program.inputs}
    if call is None:
        dtypes = [x.dtype for x in program.inputs]
        return dtypes[0] if dtypes else "none"
    pending = program.calls[call].operands()
    made: dict[int, Call] = {id_: step for step in program.calls[:call] for id_ in step.results()}
    met: set[int] = set()
    while pending:
        id_ = pending.pop(0)
        if id_ in inputs:
            x = inputs[id_]
            return x.dtype if x.strides is None else f"{x.dtype},strided"
        if id_ in made and id_ not in met:
            met.add(id_)
            pending += made[id_].operands()
    return "none"
