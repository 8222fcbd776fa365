"""Programs that a worker has been sent, and what comes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from autotest.workers.protocol import Death
from autotest.workers.worker import Gone
from dual_object.program.program import Program
from dual_object.replay.observation import Observation

#: Sends programs, together or one by one, and gives their observations as they come; reading those may raise Gone.
Ask = Callable[[Sequence[Program], bool], Iterator[list[Observation]]]


class Answers(Protocol):
    """What programs come to."""

    @property
    def ready(self) -> bool:
        """Whether there is hardly anything to wait for."""

    def result(self) -> list[Observation | Death]:
        """Wait for all of it, in the programs' order; for what was answered before the last of the deaths that were
        enough, where there were so many.
        """


class Pending:
    """Programs that are replayed while the caller does something else; a death costs its own case only.

    All are asked for in one request, which waits for the target once. When the worker dies of that, they run again one
    by one, each waited for, so that a death which comes late is blamed on its own case. Memory that none of them takes
    alone was that of all of them together, and nobody's fault. Where the worker is killed from elsewhere, what it had
    not answered runs again as it was: only a second time is blamed on a Program. Where a death is likely, they are not
    waited for `together` at all. After so many deaths as are `enough`, the rest is not asked for.
    """

    def __init__(
        self,
        programs: Sequence[Program],
        ask: Ask,
        bury: Callable[[Gone], Death],
        speaks: Callable[[], bool],
        *,
        together: bool = True,
        enough: int | None = None,
    ) -> None:
        self._programs = programs
        self._ask = ask
        self._bury = bury
        self._speaks = speaks
        self._results: dict[int, Observation | Death] = {}
        self._deaths_left = enough
        self._together = together and len(programs) > 1
        #: Whether the worker was killed once already while it ran these.
        self._killed = False
        #: Whose turn it was when the worker died of several, and how it died.
        self._suspect: tuple[int, Death] | None = None
        #: What was asked for last, and its answers; None while nothing is asked.
        self._asked: list[int] = []
        self._answers: Iterator[list[Observation]] | None = None

    @property
    def outstanding(self) -> bool:
        """Whether there is a request whose answers have not been read."""
        return self._answers is not None

    @property
    def ready(self) -> bool:
        """Whether the worker has begun to answer, or has answered."""
        return not self.outstanding or self._speaks()

    def send(self) -> None:
        """Ask for what has no result."""
        self._asked = [index for index in range(len(self._programs)) if index not in self._results]
        if self._asked:
            self._answers = self._ask([self._programs[index] for index in self._asked], self._together)

    def drop(self) -> None:
        """Forget the request, whose answers somebody else has read; whoever still waits for results asks again."""
        self._answers = None

    def result(self) -> list[Observation | Death]:
        """Wait for the results, in the programs' order. After an exception they may be waited for again."""
        while len(self._results) < len(self._programs) and self._deaths_left != 0:
            if self._answers is None:
                self.send()
            self._collect()
        if self._suspect is not None and not any(isinstance(result, Death) for result in self._results.values()):
            index, death = self._suspect  # nobody dies of it alone, yet the worker died
            self._results[index] = death
        return [self._results[index] for index in sorted(self._results)]

    def _collect(self) -> None:
        """Read the answers to what was asked last."""
        assert self._answers is not None
        answers, self._answers = self._answers, None
        asked, answered = self._asked, list[Observation]()
        death: Death | None = None
        try:
            for batch in answers:
                answered += batch
        except Gone as gone:
            death = self._bury(gone)
            if death.killed and not self._killed:
                self._killed = True
                self._results.update(zip(asked, answered, strict=False))
                return
            known = death.cause == "timeout" and death.case < len(asked) and self._deaths_left is None
            if self._together and not known:
                self._together = False
                if death.cause != "out_of_memory":
                    self._suspect = asked[min(death.case, len(asked) - 1)], death
                return
        self._results.update(zip(asked, answered, strict=False))
        if death is not None:  # one that comes when all is answered is the last case's
            culprit = death.case if self._together else min(len(answered), len(asked) - 1)
            self._results[asked[culprit]] = death
            if self._deaths_left is not None:
                self._deaths_left -= 1


__all__ = ["Answers", "Pending"]
