"""The target of a rank: inline, and in step with those of the other ranks."""

from __future__ import annotations

from collections.abc import Sequence

from autotest.errors import EnvironmentFault
from autotest.judge.consensus import Consensus
from autotest.ranks.peers import Notes, Peers, RankReplay
from autotest.workers.inline import InlineTarget, load_inline
from autotest.workers.protocol import Death, GraphFailure
from dual_object.program.program import Program
from dual_object.program.values import Array
from dual_object.replay.adapter import Adapter, GraphRefusal, distributed
from dual_object.replay.observation import Observation
from dual_object.replay.replay import Replay


class RankTarget(InlineTarget):
    """An inline target that is one of several ranks; its notes, if any, are read by the launcher.

    Raises EnvironmentFault where the target has no global tensors.
    """

    def __init__(self, adapter: Adapter, notes: Notes | None = None) -> None:
        super().__init__(adapter)
        collective = distributed(adapter)
        if collective is None:
            raise EnvironmentFault(
                f"target={adapter.name!r}, but should be one with global tensors, such as oneflow [--ranks]"
            )
        self.peers = Peers(collective, notes)

    def replay(self, program: Program) -> Replay:
        """One that ends on every rank where it ends on one."""
        return RankReplay(self.adapter, program, self.peers)

    def finish(self, stepper: Replay) -> Observation:
        """What the target shows once the body is over; a backward that fails on one rank has failed on all."""
        self.peers.calls("backward")
        return self.peers.agree_on_backward(super().finish(stepper))

    def eager(self, programs: Sequence[Program]) -> list[Observation | Death]:
        """Replay programs one after the other, on all ranks."""
        return [self.peers.join(program, self.replay(program).run()) for program in programs]

    def graph(
        self,
        programs: Sequence[Program],
        gradients: Sequence[Sequence[str]] | None,
        again: Sequence[Sequence[Array] | None] | None = None,
        configuration: str = "",
    ) -> list[Observation | GraphRefusal] | GraphFailure | Death:
        """Run programs in ONE static graph, on all ranks."""
        self.peers.calls("graph", configuration)
        answer = super().graph(programs, gradients, again, configuration)
        return answer if isinstance(answer, Death) else self.peers.agree_on_graph(answer)


def inline_target(target: str) -> tuple[InlineTarget, Consensus]:
    """The target in this process, which may be one of several ranks that somebody else has started, and with whom it
    has to agree.
    """
    alone = load_inline(target)
    collective = distributed(alone.adapter)
    if collective is None or collective.world_size == 1:
        return alone, Consensus()
    ranked = RankTarget(alone.adapter)
    return ranked, ranked.peers


__all__ = ["RankTarget", "inline_target"]
