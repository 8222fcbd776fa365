"""The driver of a campaign: it hands rounds to slots, and keeps the report up to date.

Rounds are independent: a slot that dies costs its round, which runs again in another. The driver itself may die at any
moment. What counts is the log, and the records of the rounds that it calls done.
"""

from __future__ import annotations

import contextlib
import fcntl
import selectors
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from autotest.campaign import outcome
from autotest.campaign.log import Round
from autotest.campaign.reporting import Reporter
from autotest.campaign.rounds import Rounds
from autotest.campaign.slots import Slot, Slots
from autotest.campaign.sources import slot_arguments
from autotest.campaign.status import line
from autotest.errors import EnvironmentFault, UsageError
from autotest.run.settings import commit, typed_command

LOCK = "lock"
#: Seconds between two lines that say how far the campaign is.
PACE = 30.0
#: Seconds between two looks at the clock, where no slot says anything.
LOOK = 1.0
#: A slot that holds so many bytes after a round is replaced: pytest and PyTorch keep something of each test.
MOST_MEMORY = 2 << 30
#: A round that ends its process so often at the same case goes on without it.
MOST_ENDS = 2
#: Slots that are killed so often in a row before they have collected the tests end the campaign.
MOST_UNREADY = 3


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Be the only driver of the campaign in a folder. Raises UsageError where another process is, and for a folder that
    cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock_file = (folder / LOCK).open("w")
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}; choose another folder [--folder]") from None
    with lock_file as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(
                f"{folder} has a campaign that another process runs, but should have none: wait for it, or give "
                "another folder [--folder]"
            ) from None
        yield


class Driver:
    """Runs the rounds of a campaign in so many slots of a source; `say` is told how far it is, a line at a time."""

    def __init__(self, rounds: Rounds, source: Slots, count: int, say: Callable[[str], None]) -> None:
        self._rounds = rounds
        self._source = source
        self._count = count
        self._say = say
        self._slots: list[Slot] = []
        self._selector = selectors.DefaultSelector()
        self._arguments: list[str] = []
        #: How often a round has ended its process, by the case that it had begun last.
        self._ends: Counter[tuple[int, str | None]] = Counter()
        #: Whether a slot has collected the tests, so that the campaign has begun or gone on.
        self._begun = False
        #: How many slots in a row have ended before they had collected the tests.
        self._unready = 0
        self._reporter = Reporter(rounds)
        self._line_due = time.monotonic() + PACE

    def go(self) -> None:
        """Run rounds until the budget is spent; those that are under way then end first.

        Raises EnvironmentFault where the tests cannot be collected or the target cannot start, UsageError where they
        are not those that the campaign was begun with, KeyboardInterrupt.
        """
        if self._rounds.ended:
            return
        self._arguments = slot_arguments(self._rounds.config)
        try:
            for number in range(self._count):
                self._start(number)
            while self._slots:
                for key, _ in self._selector.select(LOOK):
                    self._hear(key.data)
                self._hand_out()
                self._reporter.keep()
                if time.monotonic() >= self._line_due:
                    self._say(line(self._rounds.log, self._rounds.seconds))
                    self._line_due = time.monotonic() + PACE
        finally:
            for slot in self._slots:
                slot.close()
            # An interrupt may come after a round's line was written, and before anything here knows of it.
            done = self._rounds.log.written()
            for slot in self._slots:
                if slot.round is not None and slot.round.number not in done:  # it runs again when the campaign goes on
                    outcome.forget(self._rounds.run, slot.round.worker)
            self._reporter.close()
            self._selector.close()
            self._rounds.log.close()

    def _start(self, number: int) -> None:
        config = self._rounds.config
        told = {
            "workerid": f"slot{number}",
            "workercount": self._count,
            "autotest_folder": str(self._rounds.run),
            "autotest_seed": config.seed,
            "autotest_command": typed_command(),
            "autotest_commit": commit(Path.cwd()),
        }
        slot = self._source.start(number, self._arguments, told, config.folder / f"slot-{number}.log")
        self._slots.append(slot)
        self._selector.register(slot.answers, selectors.EVENT_READ, slot)

    def _drop(self, slot: Slot) -> None:
        self._selector.unregister(slot.answers)
        self._slots.remove(slot)
        slot.close()

    def _hand_out(self) -> None:
        """Give each idle slot a round; end those for which there will be none."""
        for slot in [*self._slots]:
            if slot.tests is None or slot.round is not None:
                continue
            round_ = self._rounds.next()
            if round_ is not None:
                slot.run(round_, self._rounds.options(round_, self._count))
            elif self._rounds.spent:
                self._drop(slot)

    def _hear(self, slot: Slot) -> None:
        """Take in what a slot says, or that it has ended."""
        heard = slot.heard()
        if heard is None:
            self._ended(slot)
            return
        for answer in heard:
            if "tests" in answer:
                self._collected(slot, answer["tests"])
            elif "stop" in answer:
                raise EnvironmentFault(answer["stop"])
            else:
                self._done(slot, answer)

    def _collected(self, slot: Slot, tests: dict[str, int]) -> None:
        if not tests:
            raise EnvironmentFault("no @autotest test was collected: name tests that have some [--tests, --sources]")
        if not self._begun:  # once: what runs already would run again
            self._rounds.begin(tests, self._count)
            self._begun = True
        slot.tests = tests
        self._unready = 0

    def _done(self, slot: Slot, answer: dict[str, Any]) -> None:
        assert slot.round is not None, "only who runs a round says that it is done"
        slot.bring(self._rounds.run)
        self._rounds.end(slot.round, answer["cpu"], answer["look"])
        slot.round = None
        if answer["memory"] > MOST_MEMORY:
            self._drop(slot)
            self._start(slot.number)

    def _ended(self, slot: Slot) -> None:
        """Start another slot for one that has ended; its round runs again."""
        how = slot.how_it_ended()
        self._unready += slot.tests is None
        if slot.tests is None and (not slot.killed or self._unready >= MOST_UNREADY):
            words = slot.last_words()
            raise EnvironmentFault(f"a slot {how} before it had collected the tests; its last words:\n{words}")
        slot.bring(self._rounds.run)
        round_, case = slot.round, slot.last_started(self._rounds.run)
        self._drop(slot)
        if round_ is not None:
            self._run_again(round_, how, case, counts=case is not None or slot.counts_unknown)
        self._start(slot.number)

    def _run_again(self, round_: Round, how: str, case: str | None, *, counts: bool) -> None:
        """Let a round run again whose process has ended; where it ends so again and again, as far as that `counts`,
        without the case at which it does. One of which nobody knows that case, or which ends at too many, is left as it
        is.
        """
        self._ends[round_.number, case] += 1
        if not counts or self._ends[round_.number, case] < MOST_ENDS:
            self._say(f"round {round_.number} runs again: its process {how} at {case or 'its start'}")
            self._rounds.interrupted(round_)
            return
        why = f"its process {how} {self._ends[round_.number, case]} times at"
        left_out = case and self._rounds.avoid(round_, case, f"PyTorch itself ends the process: it {how}")
        if left_out:
            self._say(f"round {round_.number} goes on without {left_out}: {why} {case}")
            return
        words = f"round {round_.number} is left as it is: {why} {case or 'a case that nobody knows'}"
        self._say(words)
        self._rounds.leave(round_, words)


__all__ = ["Driver", "held"]
