"""What ends the target among a test's cases: of the laid-out ones once, and where the ledger knows of it not at all.

Each end costs a process, a second of work. A corner that ends the target by itself would end it in every pair that it
is in. And laid-out cases are the same in each run, as is what a body lists: what the ledger has of them is proved by
`autotest ledger check` alone.

A drawn case runs even so. Where its end is foreseen it is waited for by itself, and costs one process: among cases that
are waited for together, an end costs a second one, in which they run again to tell whose it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from autotest.cases.design import Level
from autotest.compare.fingerprint import classes
from autotest.compare.kinds import PHASES
from autotest.judge.facts.properties import properties
from autotest.ledger.entries import Entry, Ledger
from dual_object.program.calls import Call, op_name
from dual_object.program.program import Program
from dual_object.program.values import Ref, Tree, map_leaves
from dual_object.replay.adapter import TargetInfo

#: So many laid-out cases of one test may end the target; the pairs that are left then are left out.
MOST_DEATHS = 4


@dataclass(slots=True)
class Deaths:
    """The ends of the target in one test so far.

    Attributes:
        complete: whether each corner by itself has its verdict, so that pairs may begin.
    """

    ledger: Ledger
    complete: bool = False
    _ends: dict[frozenset[Level], str] = field(default_factory=dict)
    _met: bool = False

    @property
    def any(self) -> bool:
        """Whether some case ends the target."""
        return bool(self._ends)

    def met(self, levels: tuple[Level, ...] | None, key: str) -> None:
        """Note that a case ends the target: the laid-out one of these corners, or a drawn one."""
        self._met = True
        if levels is not None:
            self._ends[frozenset(levels)] = key

    def likely(self, program: Program, info: Callable[[], TargetInfo]) -> bool:
        """Whether a Program may well end the target: a case of the test has, or the ledger has an op of it that does on
        inputs like its own, whatever its arguments.
        """
        return self._met or next(self._entries_like(program, info), None) is not None

    def foreseen(self, levels: tuple[Level, ...]) -> str | None:
        """Why a case of these corners would end the target, as far as this run has shown."""
        ordinary = self._ends.get(frozenset())
        if ordinary is not None:
            return f"the ordinary case {ordinary} ends the target"
        if len(levels) < 2:
            return None
        asked = frozenset(levels)
        for ended, key in self._ends.items():
            if ended <= asked:
                return f"its corners are those by which {key} ends the target, and others"
        if len(self._ends) >= MOST_DEATHS:
            return f"{len(self._ends)} laid-out cases of the test end the target"
        return None

    def known(self, program: Program, info: Callable[[], TargetInfo]) -> str | None:
        """By which entry of the ledger a Program ends the target: of an op that it calls on the same dtype and with the
        same arguments besides tensors, whose inputs have all that the entry needs. Where that is nothing, something of
        its proof is needed all the same: PyTorch refuses both or takes both, on inputs of as many dimensions. An end
        that is only counted comes by chance, and says so of no case.
        """
        for entry in self._entries_like(program, info):
            if entry.strict == "seen":
                continue
            proof, _ = entry.proof
            op = entry.parts.op
            alike = bool(entry.parts.needs) or _form(program) == _form(proof)
            if alike and _arguments(program, op) == _arguments(proof, op):
                return f"the ledger knows that it ends the target: {entry.fingerprint}"
        return None

    def _entries_like(self, program: Program, info: Callable[[], TargetInfo]) -> Iterator[Entry]:
        """The entries about an op that a Program calls, on the same dtype, that need nothing which its inputs lack."""
        deadly = self.ledger.deadly
        for entry in (entry for op in {*program.ops()} for entry in deadly.get(op, ())):
            parts = entry.parts
            if parts.dtype not in {x.dtype for x in program.inputs}:
                continue
            if PHASES[parts.phase].step == "backward" and not program.cotangents:
                continue
            if (not parts.needs or parts.needs <= classes(properties(program))) and entry.applies(info()):
                yield entry


def _form(program: Program) -> tuple[bool, list[int]]:
    """Whether a call of a Program is refused, and the dimensions of its inputs."""
    return any(call.raises for call in program.calls), [x.data.ndim for x in program.inputs]


def _arguments(program: Program, op: str) -> list[str]:
    """The arguments of the calls of an op, in which every tensor is the same."""
    return [_spelled(call) for call in program.op_calls() if op_name(call) == op]


def _spelled(call: Call) -> str:
    def plain(leaf: object) -> object:
        return "tensor" if isinstance(leaf, Ref) else leaf

    arguments: tuple[Tree, Tree] = (call.args, call.kwargs)
    return repr((call.kind, [map_leaves(tree, plain) for tree in arguments]))


__all__ = ["MOST_DEATHS", "Deaths"]
