"""The target in the pytest process: step by step with the recording, for raw target objects and for a debugger."""

from __future__ import annotations

from collections.abc import Sequence

from autotest.errors import EnvironmentFault
from autotest.worker import Death, GraphFailure
from dual_object import adapter as adapters
from dual_object.adapter import GraphError, GraphRefusal, GraphRequest, TargetInfo
from dual_object.errors import TargetError
from dual_object.observation import Observation, observe
from dual_object.program import Program
from dual_object.replay import Replay


class InlineTarget:
    """What a Supervisor does, without a process between: a target that aborts takes pytest with it."""

    def __init__(self, target: str) -> None:
        try:
            self.adapter = adapters.load(target)
        except TargetError as error:
            raise EnvironmentFault(str(error)) from None

    def info(self) -> TargetInfo:
        """What the target says of itself."""
        return self.adapter.info()

    def stepper(self) -> Replay:
        """A replay to hand to a Recording, which then runs each call on the target at once."""
        return Replay(self.adapter, Program())

    def finish(self, stepper: Replay) -> Observation:
        """What the target shows once the body is over."""
        [seen] = observe([stepper.finish()], self.adapter)
        return seen

    def eager(self, programs: Sequence[Program]) -> list[Observation | Death]:
        """Replay programs one after the other."""
        return [Replay(self.adapter, program).run() for program in programs]

    def graph(
        self, programs: Sequence[Program], gradients: Sequence[Sequence[str]] | None
    ) -> list[Observation | GraphRefusal] | GraphFailure | Death:
        """Run programs in ONE static graph."""
        try:
            return self.adapter.graph(GraphRequest(programs, gradients))
        except GraphError as error:
            return GraphFailure(error.classes, error.message)
