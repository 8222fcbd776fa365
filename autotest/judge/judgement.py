"""A judgement: what one case has come to so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from autotest.cases.case import Case
from autotest.compare.divergence import Divergence
from autotest.compare.evidence.evidence import Sides
from autotest.oracle.undecidable import Doubt
from autotest.workers.protocol import Cause, Death
from dual_object.program.global_layouts import distributed
from dual_object.program.program import Program
from dual_object.replay.observation import Capture, Observation

Verdict = Literal["aligned", "divergent", "undecidable", "rejected", "skipped", "crashed", "timed_out", "out_of_memory"]
#: The verdict of a case by what ended the target in it.
_ENDS: Mapping[Cause, Verdict] = {"crash": "crashed", "timeout": "timed_out", "out_of_memory": "out_of_memory"}


#: Whether something of a case was held against the reference: `off` where nobody asks for it, `nothing` where the case
#: has none of it.
CheckState = Literal["verified", "unverified", "off", "nothing"]


@dataclass(frozen=True, slots=True)
class Check:
    """What became of one check, and why where that is not plain."""

    state: CheckState
    reason: str = ""

    def __str__(self) -> str:
        return self.reason or self.state


VERIFIED = Check("verified")
OFF = Check("off")
EAGER_FAILED = Check("unverified", "its eager run failed")


@dataclass(slots=True)
class Checks:
    """What of a case was held against the reference, besides its eager forward and backward.

    Attributes:
        forward, backward: of its static graph.
        second: its eager second derivatives; None where none are asked for.
        state: the buffers of modules after its graph; None where there are none.
        training: the updates of a training in its graph; None where the case does not train.
        lowered: the functions that its layers call, where they are asked for; None where it has no layers.
        again: a second call of the same graph; None where its first one was not judged.
        configurations: of its graph under each configuration that was asked for, by its name.
        capture: how the Program came into its graph; None where the target does not tell.
        captures: the same of each executor, by its name, where the target lists several.
        distributed, random: whether it has global tensors, and random calls.
    """

    forward: Check = OFF
    backward: Check = OFF
    second: Check | None = None
    lowered: Check | None = None
    state: Check | None = None
    training: Check | None = None
    again: Check | None = None
    configurations: dict[str, Check] = field(default_factory=dict)
    capture: Capture | None = None
    captures: Mapping[str, Capture] = field(default_factory=dict)
    distributed: bool = False
    random: bool = False

    @classmethod
    def of(cls, program: Program) -> Checks:
        """Before anything has run."""
        trains = program.training is not None
        backward = OFF if program.cotangents or trains else Check("nothing", "nothing to differentiate")
        return cls(
            backward=backward,
            training=OFF if trains else None,
            distributed=distributed(program),
            random=program.random is not None,
        )

    def ran(self, check: Check, *, backward: bool) -> None:
        """Note what became of the graph's forward, and of its backward where that was asked for."""
        self.forward = check
        if backward:
            self.backward = check

    def record(self) -> dict[str, object]:
        """What the records keep: `{"forward": "verified", "backward": "off"}`."""
        row: dict[str, object] = {"forward": str(self.forward), "backward": str(self.backward)}
        if self.distributed:
            row["eager"] = "global"
        if self.random:
            row["random"] = "tainted"
        if self.capture is not None:
            row["capture"] = self.capture.outcome
            if self.capture.reasons:
                row["capture_reason"] = "; ".join(self.capture.reasons)
        if self.captures:
            row["captures"] = {name: [one.outcome, "; ".join(one.reasons)] for name, one in self.captures.items()}
        if self.configurations:
            row["configurations"] = {name: str(check) for name, check in self.configurations.items()}
        others = {"second": self.second, "state": self.state, "training": self.training, "again": self.again}
        others["lowered"] = self.lowered
        return row | {name: str(check) for name, check in others.items() if check is not None}


@dataclass(slots=True)
class Judgement:
    """What a case has come to so far."""

    case: Case
    started: float
    sides: Sides = field(init=False)
    divergences: list[Divergence] = field(default_factory=list)
    graph: Checks = field(init=False)
    death: Death | None = None
    unseen: list[Divergence] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)
    #: Its eager run differs from the reference in what nobody promises: its graph is held against that run alone.
    apart: bool = False
    #: What its plain graph shows otherwise than it should, each difference with all that tells it: a graph under a
    #: configuration that shows no more has nothing of its own.
    plain: frozenset[tuple[str, ...]] = frozenset()
    #: Why the target could not show anything: it says that it does not support what the case tries.
    unsupported: str | None = None

    def __post_init__(self) -> None:
        """Without a graph check, the records still say whether the case has gradients to compare."""
        self.sides = Sides(self.case.reference)
        self.graph = Checks.of(self.case.program)

    def branch(self) -> Judgement:
        """What the case has come to eagerly, for graphs of another making to go on with."""
        told, unseen, doubts = [*self.divergences], [*self.unseen], [*self.doubts]
        branch = replace(self, divergences=told, unseen=unseen, doubts=doubts)
        branch.sides.eager = self.sides.eager
        branch.graph.second, branch.graph.lowered = self.graph.second, self.graph.lowered
        return branch

    @property
    def verdict(self) -> Verdict:
        """The worst that happened."""
        if self.unsupported is not None:
            return "skipped"
        if self.death is not None:
            return _ENDS[self.death.cause]
        if self.divergences:
            return "divergent"
        return "undecidable" if self.doubts else "aligned"


def second_check(program: Program, answer: Observation) -> Check:
    """What became of a case's second derivatives."""
    if not program.second_cotangents:
        return Check("nothing", "nothing to differentiate twice")
    if answer.ended or answer.backward_failure is not None:
        return EAGER_FAILED
    return VERIFIED


__all__ = ["EAGER_FAILED", "OFF", "VERIFIED", "Check", "Checks", "Judgement", "Verdict", "second_check"]
