"""How far a run is: each pytest process says it in a small file of the run's folder, and whoever shows it reads all."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

#: Seconds between two writes that only count cases.
PACE = 0.2


@dataclass(frozen=True, slots=True)
class Stage:
    """How far one process is.

    `planned` are the cases of all tests that were collected. `behind` are those that need not be waited for: all of
    the tests that have ended, however many of them ran, and those that have ended of the test that runs. `ended` are
    the cases that really ran, in the `seconds` since the process's first test began.
    """

    planned: int = 0
    behind: int = 0
    ended: int = 0
    seconds: float = 0.0
    test: str = ""
    doing: str = ""


class Progress:
    """What this process says of itself, in `<folder>/progress-<worker>`; nowhere where there is no folder.

    A disk that takes no more is no matter here: the records tell of it.
    """

    def __init__(self, folder: Path | None, worker: str, planned: int) -> None:
        self.path = None if folder is None else folder / f"progress-{worker}"
        self._planned = planned
        self._started = time.monotonic()
        self._written = 0.0
        self._behind = self._ended = self._of_test = self._ended_of_test = 0
        self._test = self._doing = ""

    def begins(self, test: str, cases: int) -> None:
        """A test of so many cases begins; the one before has ended."""
        self._behind += self._of_test
        self._test, self._of_test, self._ended_of_test = test, cases, 0
        self._write()

    def case_ended(self) -> None:
        """A case has its verdict."""
        self._ended += 1
        self._ended_of_test += 1
        if time.monotonic() - self._written >= PACE:
            self._write()

    @contextlib.contextmanager
    def doing(self, what: str) -> Iterator[None]:
        """As long as this lasts, the process is busy with something else than drawing cases: `shrinking ...`."""
        self._doing = what
        self._write()
        try:
            yield
        finally:
            self._doing = ""
            self._write()

    def close(self) -> None:
        """The last test has ended."""
        if self._test:
            self.begins("", 0)

    def _write(self) -> None:
        self._written = time.monotonic()
        if self.path is None:
            return
        behind = self._behind + min(self._ended_of_test, self._of_test)
        seconds = self._written - self._started
        stage = Stage(self._planned, behind, self._ended, seconds, self._test, self._doing)
        beside = self.path.with_name(f"{self.path.name}.new")
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            beside.write_text(json.dumps(asdict(stage)))
            os.replace(beside, self.path)


def stages(folder: Path) -> list[Stage]:
    """How far each process of the run in `folder` is, by the name of its worker."""
    found = []
    for path in sorted(folder.glob("progress-*")):
        if path.suffix != ".new":
            with contextlib.suppress(FileNotFoundError):  # a process that has just ended
                found.append(Stage(**json.loads(path.read_text())))
    return found


def together(stages: Sequence[Stage]) -> Stage:
    """How far all processes are, which share the tests, and each of which has collected all of them."""
    return Stage(
        max(stage.planned for stage in stages),
        sum(stage.behind for stage in stages),
        sum(stage.ended for stage in stages),
        max(stage.seconds for stage in stages),
    )


def line(stages: Sequence[Stage], before: Stage | None = None) -> str:
    """How far a run is, in words: `6 %, 120 cases, 45 a second, 42 s left: test_a (shrinking ...); test_b`.

    The share is of the cases that tests ask for: how many are laid out besides nobody can know before. The pace is that
    since all of it was as far as `before`: some tests take a hundred times as long as others.
    """
    now, before = together(stages), before or Stage()
    behind, planned = now.behind, now.planned
    ended, seconds, passed = now.ended - before.ended, now.seconds - before.seconds, behind - before.behind
    parts = [f"{now.ended:,} cases"]
    if planned:
        parts.insert(0, f"{min(100, 100 * behind // planned)} %")
    if seconds >= 1 and ended:
        parts.append(f"{ended / seconds:,.0f} a second" if ended >= seconds else f"{seconds / ended:,.0f} s each")
        if passed and planned > behind:
            parts.append(f"{_roughly(seconds * (planned - behind) / passed)} left")
    busy = [f"{stage.test} ({stage.doing})" if stage.doing else stage.test for stage in stages if stage.test]
    return ": ".join(filter(None, (", ".join(parts), "; ".join(busy))))


def forget(folder: Path) -> None:
    """Take away the files of a run that has ended."""
    for path in folder.glob("progress-*"):
        path.unlink(missing_ok=True)


def _roughly(seconds: float) -> str:
    """A guess, without the digits that it has not: 8 s, 3 min, 1 h 10 min."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"
