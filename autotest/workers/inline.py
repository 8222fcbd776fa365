"""The target in the pytest process: step by step with the recording, for raw target objects and for a debugger."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from autotest.errors import EnvironmentFault
from autotest.ranks.peers import Notes, Peers, RankReplay
from autotest.workers.fault_injection import plant
from autotest.workers.protocol import Death, GraphFailure
from dual_object.errors import TargetError
from dual_object.program.program import Program
from dual_object.program.values import Array
from dual_object.replay import adapter as adapters
from dual_object.replay.adapter import GraphError, GraphRefusal, GraphRequest, Surface, TargetInfo, distributed
from dual_object.replay.observation import Observation
from dual_object.replay.reading import observe
from dual_object.replay.replay import QuietReplay, Replay

#: OneFlow aborts after about 1,365 compilations in one process.
MAX_GRAPHS_INLINE = 1200


class InlineTarget:
    """What a Supervisor does, without a process between: a target that aborts takes pytest with it."""

    def __init__(self, target: str) -> None:
        try:
            self.adapter = adapters.load(target)
        except TargetError as error:
            raise EnvironmentFault(str(error)) from None
        plant(self.adapter)
        self._graphs = 0
        found = distributed(self.adapter)
        #: The other ranks, where this process is one of several.
        self.peers = Peers(found) if found is not None and found.world_size > 1 else None

    def join(self, notes: Notes) -> None:
        """Take part in a run of several ranks; raises EnvironmentFault where the target has no global tensors."""
        found = distributed(self.adapter)
        if found is None:
            raise EnvironmentFault(
                f"target={self.adapter.name!r}, but should be one with global tensors, such as oneflow [--ranks]"
            )
        self.peers = Peers(found, notes)

    def info(self) -> TargetInfo:
        """What the target says of itself."""
        return self.adapter.info()

    def surface(self, paths: Sequence[str]) -> Surface:
        """What the target has, and what has run of it in this process."""
        return adapters.surface(self.adapter, paths)

    def stepper(self) -> Replay:
        """A replay to hand to a Recording, which then runs each call on the target at once."""
        return self._replay(Program())

    def _replay(self, program: Program) -> Replay:
        return (
            QuietReplay(self.adapter, program) if self.peers is None else RankReplay(self.adapter, program, self.peers)
        )

    def finish(self, stepper: Replay) -> Observation:
        """What the target shows once the body is over."""
        if self.peers is not None:
            self.peers.calls("backward")
        [seen] = observe([stepper.finish()], self.adapter)
        if stepper.repeatable and stepper.program.inline is None and seen.backward_failure and seen.second_failure:
            return self._replay(stepper.program).run()
        return seen if self.peers is None else self.peers.agree_on_backward(seen)

    def eager(self, programs: Sequence[Program]) -> list[Observation | Death]:
        """Replay programs one after the other."""
        return [self._replay(program).run() for program in programs]

    def graph(
        self,
        programs: Sequence[Program],
        gradients: Sequence[Sequence[str]] | None,
        again: Sequence[Sequence[Array] | None] | None = None,
    ) -> list[Observation | GraphRefusal] | GraphFailure | Death:
        """Run programs in ONE static graph."""
        self._graphs += 1
        if self._graphs > MAX_GRAPHS_INLINE:
            reason = f"this process has compiled {MAX_GRAPHS_INLINE} graphs, and no other can take its place"
            return [GraphRefusal(True, None, (), reason) for _ in programs]
        if self.peers is not None:
            self.peers.calls("graph")
        answer: list[Observation | GraphRefusal] | GraphFailure
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # as in `QuietReplay`
                answer = self.adapter.graph(GraphRequest(programs, gradients, again))
        except GraphError as error:
            answer = GraphFailure(error.classes, error.message)
        return answer if self.peers is None else self.peers.agree_on_graph(answer)
