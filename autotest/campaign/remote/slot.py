"""A slot on a cluster, as its driver sees it."""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path
from typing import Any

import ray

from autotest.campaign.log import Round
from autotest.errors import EnvironmentFault
from reports import last_begun

#: Seconds after which an actor tells which case its round has begun last, again and again while it runs.
TELLS = 5.0
#: Seconds that an actor has to end its process.
CLOSES = 10.0


class RemoteSlot:
    """An actor that is given rounds, one at a time: it has no more than one round's records to hand back.

    Attributes: as a Slot has them.
    """

    counts_unknown = True

    def __init__(self, number: int, actor: Any) -> None:
        self.number = number
        self.round: Round | None = None
        self.tests: dict[str, int] | None = None
        self._actor = actor
        #: What was asked and is not answered.
        self._asked: list[Any] = []
        self._files: dict[str, bytes] = {}
        self._started: str | None = None
        self._asks_started = False
        self._end = ""
        self._words = ""
        self._killed = True
        self._open = threading.Lock()
        self.answers, self._bell = os.pipe()
        os.set_blocking(self.answers, False)
        os.set_blocking(self._bell, False)
        self._ask(actor.tests.remote())

    def _ask(self, answer: Any) -> None:
        """Have the bell rung when an answer is here."""
        self._asked.append(answer)
        answer.future().add_done_callback(self._ring)

    def _ring(self, _: object) -> None:
        """In a thread of Ray's."""
        with self._open:
            if self._bell >= 0:
                with contextlib.suppress(BlockingIOError):  # so many rings are not heard yet
                    os.write(self._bell, b".")

    @property
    def killed(self) -> bool:
        """Whether its actor is lost, or a signal has ended the process there."""
        return self._killed

    def run(self, round_: Round, options: dict[str, Any]) -> None:
        """Tell it to run a round."""
        self.round, self._started, self._files = round_, None, {}
        self._ask(self._actor.run.remote(round_, options))
        self._ask_started()

    def _ask_started(self) -> None:
        if not self._asks_started and self.round is not None:
            self._asks_started = True
            self._ask(self._actor.started.remote(self.round, TELLS))

    def heard(self) -> list[dict[str, Any]] | None:
        """What it has said since the last time; None where it has ended, or its actor is lost.

        Raises EnvironmentFault for an actor that cannot work where it is.
        """
        with contextlib.suppress(BlockingIOError):
            while os.read(self.answers, 1 << 10):
                pass
        here, self._asked = ray.wait(self._asked, num_returns=len(self._asked), timeout=0)
        said = []
        for answer in here:
            try:
                given: dict[str, Any] = ray.get(answer)
            except ray.exceptions.RayActorError as error:
                if isinstance(error.__cause__, NotADirectoryError) or "NotADirectoryError" in str(error):
                    raise EnvironmentFault(str(error).strip().splitlines()[-1]) from None
                self._end = f"was lost with its actor ({type(error).__name__})"
                return None
            if "started" in given:
                self._asks_started = False
                if self.round is not None and self.round.number == given["round"]:
                    self._started = given["started"]
                self._ask_started()
                continue
            self._files = given.pop("files", {})
            if "ended" in given:
                self._end, self._killed, self._words = given["ended"], given["killed"], given["words"]
                return None
            said.append(given)
        return said

    def bring(self, run: Path) -> None:
        """Write what came with its answer: the records last, for a round has them where it has anything."""
        for path, content in sorted(self._files.items(), key=lambda item: item[0].startswith("records-")):
            (run / path).parent.mkdir(parents=True, exist_ok=True)
            (run / path).write_bytes(content)
        self._files = {}

    def last_started(self, run: Path) -> str | None:
        """By the records that it has brought, else as its actor told last."""
        held = None if self.round is None else last_begun(run, self.round.worker)
        return held or self._started

    def last_words(self) -> str:
        """The end of what its process has printed; nothing of an actor that is lost."""
        return self._words

    def how_it_ended(self) -> str:
        """In words."""
        return self._end

    def close(self) -> None:
        """End the actor, and its process with it."""
        with contextlib.suppress(ray.exceptions.RayError):  # it is lost already, or does not answer any more
            ray.get(self._actor.close.remote(), timeout=CLOSES)
        ray.kill(self._actor, no_restart=True)
        with self._open:
            os.close(self._bell)
            os.close(self.answers)
            self._bell = -1


__all__ = ["RemoteSlot"]
