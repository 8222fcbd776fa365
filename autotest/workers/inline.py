"""The target in the pytest process: step by step with the recording, for raw target objects and for a debugger."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

from autotest.errors import EnvironmentFault
from autotest.workers.fault_injection import plant
from autotest.workers.protocol import Death, GraphFailure
from dual_object.errors import TargetError
from dual_object.program.program import Program
from dual_object.program.values import Array
from dual_object.replay import adapter as adapters
from dual_object.replay.adapter import Adapter, GraphError, GraphRefusal, GraphRequest, Surface, TargetInfo
from dual_object.replay.observation import Observation
from dual_object.replay.reading import observe
from dual_object.replay.replay import QuietReplay, Replay
from dual_object.replay.stages import load_stages, stages_info

#: OneFlow aborts after about 1,365 compilations in one process.
MAX_GRAPHS_INLINE = 1200


class InlineTarget:
    """What a Supervisor does, without a process between: a target that aborts takes pytest with it."""

    def __init__(self, adapter: Adapter) -> None:
        self.adapter = adapter
        self._graphs = 0

    def stages(self) -> Mapping[str, InlineTarget]:
        """What runs each of the executors that the target lists, by its name; none where it lists none."""
        return {}

    def info(self) -> TargetInfo:
        """What the target says of itself."""
        return stages_info(self.adapter.name, [self.adapter])

    def unlowered(self, program: Program) -> str | None:
        """Why the target cannot be asked about a Program for its modules."""
        lacks = "modules" in self.adapter.lacks and any(program.modules())
        return "in this process each call runs as it is recorded" if lacks else None

    def surface(self, paths: Sequence[str]) -> Surface:
        """What the target has, and what has run of it in this process."""
        return adapters.surface(self.adapter, paths)

    def stepper(self) -> Replay:
        """A replay to hand to a Recording, which then runs each call on the target at once."""
        return self.replay(Program())

    def replay(self, program: Program) -> Replay:
        """A replay of a Program, not begun."""
        return QuietReplay(self.adapter, program)

    def finish(self, stepper: Replay) -> Observation:
        """What the target shows once the body is over."""
        [observation] = observe([stepper.finish()], self.adapter)
        failed_twice = observation.backward_failure and observation.second_failure
        if failed_twice and stepper.repeatable and stepper.program.inline is None:
            return self.replay(stepper.program).run()
        return observation

    def eager(self, programs: Sequence[Program]) -> list[Observation | Death]:
        """Replay programs one after the other."""
        return [self.replay(program).run() for program in programs]

    def graph(
        self,
        programs: Sequence[Program],
        gradients: Sequence[Sequence[str]] | None,
        again: Sequence[Sequence[Array] | None] | None = None,
        configuration: str = "",
    ) -> list[Observation | GraphRefusal] | GraphFailure | Death:
        """Run programs in ONE static graph."""
        self._graphs += 1
        if self._graphs > MAX_GRAPHS_INLINE:
            reason = f"this process has compiled {MAX_GRAPHS_INLINE} graphs, and no other can take its place"
            return [GraphRefusal(True, None, (), reason) for _ in programs]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # as in `QuietReplay`
                return self.adapter.graph(GraphRequest(programs, gradients, again, configuration))
        except GraphError as error:
            return GraphFailure(error.classes, error.message)


class StagedInlineTarget(InlineTarget):
    """One that lists several executors: eagerly, and where none is named, it is the first of them."""

    def __init__(self, target: str, stages: Mapping[str, Adapter]) -> None:
        super().__init__(next(iter(stages.values())))
        self._target = target
        self._stages = {name: InlineTarget(adapter) for name, adapter in stages.items()}

    def stages(self) -> Mapping[str, InlineTarget]:
        """What runs each of them."""
        return self._stages

    def info(self) -> TargetInfo:
        """What all of them say."""
        return stages_info(self._target, [stage.adapter for stage in self._stages.values()])


def load_inline(target: str) -> InlineTarget:
    """The target in this process, with what is planted in it; raises EnvironmentFault."""
    try:
        stages = load_stages(target)
    except TargetError as error:
        raise EnvironmentFault(str(error)) from None
    for adapter in stages.values():
        plant(adapter)
    if len(stages) > 1:
        return StagedInlineTarget(target, stages)
    [adapter] = stages.values()
    return InlineTarget(adapter)
