"""Where cases are replayed: in the target's worker while the next ones are drawn, or in this process step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from autotest.cases.case import Case, Origin, Rejection
from autotest.cases.drawer import Drawer
from autotest.judge.consensus import Consensus
from autotest.run.session import Session
from autotest.workers.pending import Answers
from autotest.workers.protocol import Death, Target
from dual_object.program.program import Program
from dual_object.replay.observation import Observation
from dual_object.replay.replay import Replay

#: Cases that are replayed and judged together: graphs are filled from them, and OneFlow's worker waits once for all of
#: them, which in portions of 5 cost it three times as much. It bounds the memory of a test with a great n.
CHUNK = 20


class Replayer(Protocol):
    """Draws cases and replays them, `chunk` at a time, for a judge on `target` and in `consensus`. `shares`: tests may
    share graphs there.
    """

    chunk: int
    shares: bool

    @property
    def target(self) -> Target:
        """What replays them."""

    @property
    def stages(self) -> Mapping[str, Target]:
        """What runs each of the executors that the target lists, by its name; none where it lists none."""

    @property
    def consensus(self) -> Consensus:
        """With whom their verdicts are shared."""

    def ready(self) -> None:
        """See to it that the records say what the target is. Raises EnvironmentFault where it cannot start."""

    def draw(self, drawer: Drawer, index: int, origin: Origin | None) -> Case | Rejection:
        """Draw a case."""

    def submit(self, programs: Sequence[Program], *, together: bool = True) -> Answers:
        """Replay the cases of a chunk; those that the target cannot be asked about are not among them. Where one may
        well end the target, they are not waited for `together`.
        """


class WorkerReplayer:
    """Sends a chunk to the worker. While that replays it, the next one is drawn."""

    chunk = CHUNK
    shares = True

    def __init__(self, session: Session) -> None:
        self.target = session.supervisor
        self.stages = self.target.stages()
        self.consensus = Consensus()
        self._session = session

    def ready(self) -> None:
        """Wait for the worker the first time."""
        self._session.record_target()

    def draw(self, drawer: Drawer, index: int, origin: Origin | None) -> Case | Rejection:
        """Draw a case on the reference alone."""
        return drawer.draw(index, origin=origin)

    def submit(self, programs: Sequence[Program], *, together: bool = True) -> Answers:
        """Send them; the worker replays them while the caller goes on."""
        return self.target.submit(programs, together=together)


class InlineReplayer:
    """Steps through each case on the target in this process, while its body runs; the other ranks do so, too. Of a
    training that ranks share, only its end tells which inputs are a batch: the target runs it once it is recorded.
    """

    chunk = 1
    shares = False

    def __init__(self, session: Session) -> None:
        self.target = session.inline
        self.stages = self.target.stages()
        self.consensus = session.consensus
        self._stepper: Replay | None = None
        info = self.target.info()
        session.check_configurations(info)
        if session.writer is not None:
            session.writer.target(info.environment, info.devices, info.lacks)

    def ready(self) -> None:
        """Nothing to wait for: the target was recorded when this was made, before the first case, which may abort this
        process.
        """

    def draw(self, drawer: Drawer, index: int, origin: Origin | None) -> Case | Rejection:
        """Draw a case on both sides."""
        shared = drawer.options.train is not None and not self.consensus.alone
        self._stepper = None if shared else self.target.stepper()
        return drawer.draw(index, self._stepper, origin=origin)

    def submit(self, programs: Sequence[Program], *, together: bool = True) -> Answers:
        """Give what the case that was drawn last has come to: its calls have run already, but those of a training that
        ranks share.
        """
        if self._stepper is None:
            return _Answered(self.target.eager(programs))
        return _Answered([self.target.finish(self._stepper) for _ in programs])


class _Answered:
    """Answers that are there."""

    ready = True

    def __init__(self, answers: Sequence[Observation | Death]) -> None:
        self._answers = answers

    def result(self) -> list[Observation | Death]:
        return list(self._answers)
