"""A judgement: what one case has come to so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from autotest.cases.case import Case
from autotest.compare.divergence import Divergence
from autotest.compare.evidence import Sides
from autotest.oracle.undecidable import Doubt
from autotest.workers.protocol import Death
from dual_object.program.global_layouts import distributed
from dual_object.program.program import Program
from dual_object.replay.observation import Observation

Verdict = Literal["aligned", "divergent", "undecidable", "rejected", "skipped", "crashed", "timed_out"]


@dataclass(slots=True)
class Judgement:
    """What a case has come to so far."""

    case: Case
    started: float
    sides: Sides = field(init=False)
    divergences: list[Divergence] = field(default_factory=list)
    graph: dict[str, str] = field(init=False)
    death: Death | None = None
    unseen: list[Divergence] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)
    #: Its eager run differs from the reference in what nobody promises: its graph is held against that run alone.
    apart: bool = False

    def __post_init__(self) -> None:
        """Without a graph check, the records still say whether the case has gradients to compare."""
        self.sides = Sides(self.case.reference)
        backward = "off" if self.case.program.cotangents else "nothing to differentiate"
        self.graph = {"forward": "off", "backward": backward}
        if distributed(self.case.program):
            self.graph["eager"] = "global"
        if self.case.program.random is not None:
            self.graph["random"] = "tainted"

    @property
    def verdict(self) -> Verdict:
        """The worst that happened."""
        if self.death is not None:
            return "timed_out" if self.death.timed_out else "crashed"
        if self.divergences:
            return "divergent"
        return "undecidable" if self.doubts else "aligned"


def second_reached(program: Program, answer: Observation) -> str:
    """What a case's record says of its second derivatives."""
    if not program.second_cotangents:
        return "nothing to differentiate twice"
    return "its eager run failed" if answer.ended or answer.backward_failure is not None else "verified"
