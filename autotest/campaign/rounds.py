"""The rounds of a campaign: which is next, which is done, and what is left of the budget."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from autotest.campaign import outcome
from autotest.campaign.config import Config
from autotest.campaign.log import Done, Log, Round
from autotest.campaign.steering import Steering
from autotest.cases.case import case_test_name
from autotest.errors import UsageError
from autotest.run.settings import typed_command
from reports import RecordWriter, plan_run

#: Rounds that may be under way at least: fewer than there are slots would leave some idle.
LEAST_LAG = 8
#: Seconds for closer looks before any share of the time has come together.
HEAD_START = 30.0
#: What of them is for shrinking, for attributing, and for running scripts.
SHRINKING, ATTRIBUTING, SCRIPTS = 0.6, 0.2, 0.2
#: A round goes on without so many cases, or tests, that end its process.
MOST_AVOIDED = 5
#: A fingerprint that has not had its closer look, for want of seconds, is stored anew in so many rounds.
KEPT_ROUNDS = 3


class Rounds:
    """The rounds in a campaign's folder. Whoever has the same log decides the same ones.

    Attributes:
        log: what was decided, and what came of it.
        run: the run folder that holds the records.
    """

    def __init__(self, config: Config) -> None:
        """Read the log. Raises UsageError for one of another campaign."""
        self.config = config
        self.log = Log(config.folder)
        self._began = time.monotonic()
        self._before = self.log.seconds
        self._again: list[Round] = []
        self._steering: Steering | None = None
        self._learned = 0
        #: By id, in how many rounds a fingerprint was seen; one that had its closer look counts as often as is enough.
        self._seen: Counter[str] = Counter()
        begun = self.log.begun
        name = plan_run(config.folder, config.seed).name if begun is None else begun["run"]
        self.run = config.folder.absolute() / "runs" / str(name)
        if begun is not None:
            self._refuse_another(begun["identity"])
            for done in self.log.done.values():
                self._count(done)

    def _refuse_another(self, begun: dict[str, Any]) -> None:
        asked = self.config.identity
        for name, value in asked.items():
            before = begun.get(name, Config().identity[name])  # a log may be older than the option
            if before != value:
                raise UsageError(
                    f"{name}={value!r}, but the campaign in {self.config.folder} was begun with {before!r}: "
                    "go on with that, or begin another in a new folder [--folder]"
                )

    def begin(self, tests: Mapping[str, int], slots: int) -> None:
        """Start, or go on, with these tests, a visit of which draws so many cases: what was interrupted is taken away
        and runs again.

        Raises UsageError where they are not those that the campaign was begun with.
        """
        log = self.log
        if log.begun is None:
            log.begin(self.run, self.config.identity, tests, max(LEAST_LAG, 2 * slots))
        assert log.begun is not None, "it has just begun, at the latest"
        if [*tests.items()] != [*log.begun["tests"].items()]:
            now, then = set(tests), set(log.begun["tests"])
            others = sum(tests[test] != log.begun["tests"][test] for test in now & then)
            raise UsageError(
                f"the tests of the campaign in {self.config.folder} have changed since it was begun: {len(now - then)} "
                f"are new, {len(then - now)} are gone, {others} have another n; begin another in a new folder "
                "[--folder]"
            )
        uniform = self.config.steering == "uniform"
        self._steering = Steering(tests, self.config.seed, log.begun["lag"], uniform=uniform)
        for round_ in log.rounds:
            self._steering.decided(round_)
            if round_.number not in log.done:
                outcome.forget(self.run, round_.worker)
                self._again.append(round_)

    @property
    def seconds(self) -> float:
        """How long all sittings have taken, this one too."""
        return self._before + time.monotonic() - self._began

    @property
    def spent(self) -> bool:
        """Whether the budget allows no further round, or there is nothing left to draw."""
        time_, cases = self.config.time, self.config.cases
        if self._steering is not None and not self._steering.left:
            return True
        return (time_ is not None and self.seconds >= time_) or (cases is not None and self.log.drawn >= cases)

    @property
    def ended(self) -> bool:
        """Whether every round is done, and there will be no other."""
        return self.spent and len(self.log.done) == len(self.log.rounds)

    def next(self) -> Round | None:
        """The round to run now; None where there is none, or others must end first."""
        if self._again:
            return self._again.pop(0)
        number = len(self.log.rounds)
        steering = self._steering
        if steering is None:
            return None
        while self._learned <= number - steering.lag:
            done = self.log.done.get(self._learned)
            if done is None:
                return None
            round_, avoided = self.log.rounds[self._learned], self.log.avoided[self._learned]
            steering.take(round_, done, [v.test for v in round_.visits if case_test_name(v.test) in avoided])
            self._learned += 1
        if self.spent:  # asked when all is learned: the last test left may have ended the process
            return None
        round_ = steering.next(number)
        self.log.decide(round_)
        steering.decided(round_)
        return round_

    def options(self, round_: Round, slots: int) -> dict[str, Any]:
        """The options of a run that a round has of its own."""
        look = self.look_left / slots
        return {
            "worker": round_.worker,
            "avoided": dict(self.log.avoided[round_.number]),
            "shrink_total": look * SHRINKING,
            "blame_total": look * ATTRIBUTING,
            "settled": sorted(id_ for id_, count in self._seen.items() if count >= KEPT_ROUNDS),
        }

    @property
    def look_left(self) -> float:
        """The seconds that have come together for closer looks and are not spent."""
        if not self.config.look:
            return 0.0
        spent = sum(done.look for done in self.log.done.values())
        return max(0.0, HEAD_START + self.config.look * self.seconds - spent)

    def end(self, round_: Round, cpu: float, look: float) -> None:
        """Note that a round is done."""
        cells = self.config.steering == "cells"
        done = outcome.came(self.run, round_, cpu=cpu, look=look, cells=cells)
        self.log.end(round_.number, done, self.seconds)
        self._count(done)

    def avoid(self, round_: Round, case: str, how: str) -> str | None:
        """Have a round run again without a case that ends its process, or without its test, where another of its cases
        does; what is left out, by its key. None where the round has had enough of those.
        """
        avoided = self.log.avoided[round_.number]
        test = case.rpartition("#")[0]
        if case in avoided or test in avoided or len(avoided) >= MOST_AVOIDED:
            return None
        key = test if any(one.rpartition("#")[0] == test for one in avoided) else case
        self.log.avoid(round_.number, key, how)
        self.interrupted(round_)
        return key

    def leave(self, round_: Round, why: str) -> None:
        """Note that a round will not be whole: what there is of it counts, and a fault of the harness says why."""
        asked = self.config
        with RecordWriter(
            self.run, round_.worker, seed=asked.seed, target=asked.target, environment={}, command=typed_command()
        ) as writer:
            writer.fault(None, why)
        self.end(round_, 0.0, 0.0)

    def interrupted(self, round_: Round) -> None:
        """Let a round run again, of which there is something left."""
        outcome.forget(self.run, round_.worker)
        self._again.append(round_)

    def _count(self, done: Done) -> None:
        self._seen.update({id_ for rows in done.found.values() for id_ in rows})
        self._seen.update(dict.fromkeys(done.looked, KEPT_ROUNDS))


__all__ = ["SCRIPTS", "Rounds"]
