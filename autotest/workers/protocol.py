"""What the harness asks of a target, wherever that runs, and how it can fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from dual_object.program.program import Program
from dual_object.program.values import Array
from dual_object.replay.adapter import GraphRefusal, TargetInfo
from dual_object.replay.observation import Observation

#: What makes a process one rank of several to OneFlow, which sets them itself where they are missing.
RANK_VARIABLES = frozenset({"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "LOCAL_RANK"})


#: Why a worker ended: by itself, at its deadline, or because it held more memory than it may.
Cause = Literal["crash", "timeout", "out_of_memory"]


@dataclass(frozen=True, slots=True)
class Death:
    """A worker ended, or was ended, while it ran a request.

    Attributes:
        cause, how: why it ended, and how in words: `killed by SIGSEGV`.
        case, call: the index of the case in the request, and of the call that it was at, where there was one.
        backward: whether it was in that case's backward.
        killed: whether it was SIGKILL, which comes from elsewhere: from a person, or from a system short of memory.
        last_words: the line that tells most of what it printed last.
    """

    cause: Cause
    how: str
    case: int
    call: int | None
    last_words: str
    backward: bool = False
    killed: bool = False

    def sentence(self) -> str:
        """One sentence for people."""
        if self.cause == "out_of_memory":  # whatever it printed last, it was not of its end
            return f"{self.how} [--memory-limit]"
        return f"{self.how}: {self.last_words}" if self.last_words else self.how


@dataclass(frozen=True, slots=True)
class GraphFailure:
    """A graph failed as a whole, the worker lives on or was retired."""

    classes: tuple[str, ...]
    message: str


class GraphTarget(Protocol):
    """Whoever can run a static graph."""

    def graph(
        self,
        programs: Sequence[Program],
        gradients: Sequence[Sequence[str]] | None,
        again: Sequence[Sequence[Array] | None] | None = None,
        configuration: str = "",
    ) -> list[Observation | GraphRefusal] | GraphFailure | Death:
        """Run programs in ONE static graph, built under a configuration of the target where one is named; called
        `again` with other values of the inputs, where there are any.
        """


class Target(GraphTarget, Protocol):
    """Whoever replays Programs."""

    def info(self) -> TargetInfo:
        """What the target says of itself."""

    def unlowered(self, program: Program) -> str | None:
        """Why the target, which has no modules, cannot be asked about those of a Program; None where it can."""

    def eager(self, programs: Sequence[Program]) -> list[Observation | Death]:
        """Replay eagerly."""
