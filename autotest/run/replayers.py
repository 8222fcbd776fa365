"""Where cases are replayed: in the target's worker while the next ones are drawn, or in this process step by step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from autotest.cases.case import Case, Origin, Rejection
from autotest.cases.drawer import Drawer
from autotest.judge.consensus import Consensus
from autotest.run.session import Session
from autotest.workers.pending import Pending
from autotest.workers.protocol import Death, Target
from dual_object.program.program import Program
from dual_object.replay.observation import Observation
from dual_object.replay.replay import Replay

#: Cases that are judged together: graphs are filled from them, and the memory of a test with a great n is bounded.
CHUNK = 20
#: Cases that the worker is sent together, while the next ones are drawn.
PORTION = int(__import__("os").environ.get("PORTION", "5"))


class Replayer(Protocol):
    """Draws cases and replays them; `chunk` of them are judged together, on `target` and in `consensus`."""

    chunk: int

    @property
    def target(self) -> Target:
        """What replays them."""

    @property
    def consensus(self) -> Consensus:
        """With whom their verdicts are shared."""

    def ready(self) -> None:
        """See to it that the records say what the target is. Raises EnvironmentFault where it cannot start."""

    def draw(self, drawer: Drawer, index: int, origin: Origin | None) -> Case | Rejection:
        """Draw a case."""

    def take(self, program: Program) -> None:
        """Replay the case that was drawn last, soon."""

    def answers(self) -> Iterator[Observation | Death]:
        """What the cases taken since the last chunk have come to, in order."""


class WorkerReplayer:
    """Sends cases to the worker in portions, and goes on drawing: it waits for nothing but a portion before the last
    one.
    """

    chunk = CHUNK

    def __init__(self, session: Session) -> None:
        self.target = session.supervisor
        self.consensus = Consensus()
        self._session = session
        self._portion: list[Program] = []
        self._sent: list[Pending] = []

    def ready(self) -> None:
        """Wait for the worker the first time."""
        self._session.record_target()

    def draw(self, drawer: Drawer, index: int, origin: Origin | None) -> Case | Rejection:
        """Draw a case on the reference alone."""
        return drawer.draw(index, origin=origin)

    def take(self, program: Program) -> None:
        """Send the portion that this case fills."""
        self._portion.append(program)
        if len(self._portion) == PORTION:
            self._send()

    def _send(self) -> None:
        portion, self._portion = self._portion, []
        self._sent.append(self.target.submit(portion))

    def answers(self) -> Iterator[Observation | Death]:
        """Portion by portion, so that the first ones are judged while the last one is replayed."""
        if self._portion:
            self._send()
        sent, self._sent = self._sent, []
        for pending in sent:
            yield from pending.result()


class InlineReplayer:
    """Steps through each case on the target in this process, while its body runs."""

    chunk = 1

    def __init__(self, session: Session) -> None:
        self.target = session.inline
        self.consensus = session.consensus
        self._stepper: Replay | None = None
        self._answer: Observation | None = None
        if session.writer is not None:
            info = self.target.info()
            session.writer.target(info.environment, info.devices)

    def ready(self) -> None:
        """It is, since before the first case: one that aborts takes this process with it."""

    def draw(self, drawer: Drawer, index: int, origin: Origin | None) -> Case | Rejection:
        """Draw a case on both sides."""
        self._stepper = self.target.stepper()
        return drawer.draw(index, self._stepper, origin=origin)

    def take(self, program: Program) -> None:
        """Ask for what its calls, which have run, have come to."""
        assert self._stepper is not None
        self._answer = self.target.finish(self._stepper)

    def answers(self) -> Iterator[Observation | Death]:
        """Of the one case, if the target could be asked about it."""
        answer, self._answer = self._answer, None
        if answer is not None:
            yield answer
