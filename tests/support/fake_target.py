"""A target without a process, which answers what a test tells it to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from autotest.workers.protocol import Death, GraphFailure, Target
from dual_object.program.program import Program
from dual_object.program.values import Array
from dual_object.replay.adapter import Adapter, GraphRefusal, Surface, TargetInfo
from dual_object.replay.observation import Failure, Observation
from dual_object.replay.replay import Replay

#: What is made of the observation that the framework itself would show.
Answer = Callable[[Observation], Observation | Death]


def lacking(seen: Observation) -> Observation:
    """As the answer of a target that does not have the op of the first call."""
    seen.failures.append(Failure(0, "missing", ("MissingOp",), "it is not there"))
    seen.ended = True
    return seen


@dataclass
class FakeTarget:
    """Stands where a Supervisor does. It answers as `adapter` would, but for Programs with an op of `answers`.

    `prompt`: whether its answers are there as soon as somebody looks. `asked` are the ops of the Programs of each
    request, `sent` how many results nobody has waited for yet.
    """

    adapter: Adapter
    answers: Mapping[str, Answer] = field(default_factory=dict)
    capabilities: tuple[str, ...] = ()
    asked: list[list[list[str]]] = field(default_factory=list)
    together: list[bool] = field(default_factory=list)
    sent: int = 0
    prompt: bool = False

    def start(self) -> None:
        """There is nothing to start."""

    def stages(self) -> dict[str, Target]:
        """It lists no executors."""
        return {}

    def stage(self, name: str) -> FakeTarget:
        """So there is none to be run alone."""
        return self

    def info(self) -> TargetInfo:
        """What the target says of itself."""
        return replace(self.adapter.info(), name="fake", capabilities=self.capabilities)

    def submit(self, programs: Sequence[Program], *, together: bool = True) -> FakePending:
        """Answer at once, and hold the answers back."""
        self.asked.append([list(program.ops()) for program in programs])
        self.together.append(together)
        self.sent += 1
        return FakePending(self, [self._answer(program) for program in programs])

    def eager(self, programs: Sequence[Program]) -> list[Observation | Death]:
        """Answer and wait."""
        return self.submit(programs).result()

    def graph(
        self,
        programs: Sequence[Program],
        gradients: Sequence[Sequence[str]] | None,
        again: Sequence[Sequence[Array] | None] | None = None,
    ) -> list[Observation | GraphRefusal] | GraphFailure | Death:
        """It has no graphs."""
        return [GraphRefusal(True, None, (), "a fake has no graphs") for _ in programs]

    def surface(self, paths: Sequence[str]) -> Surface | None:
        """Nothing is known of it."""
        return None

    def close(self) -> None:
        """There is nothing to close."""

    def _answer(self, program: Program) -> Observation | Death:
        seen = Replay(self.adapter, program).run()
        for op in program.ops():
            if op in self.answers:
                return self.answers[op](seen)
        return seen


@dataclass
class FakePending:
    """Answers that are held back until somebody waits for them."""

    target: FakeTarget
    results: list[Observation | Death]
    waited: bool = False

    @property
    def ready(self) -> bool:
        """Whether there is nothing to wait for."""
        return self.waited or self.target.prompt

    def result(self) -> list[Observation | Death]:
        """The answers."""
        self.target.sent -= not self.waited
        self.waited = True
        return self.results
