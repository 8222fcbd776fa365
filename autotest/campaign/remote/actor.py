"""The actor of a slot, on whichever node Ray puts it: it has a pytest process run rounds, and hands their records back.

It keeps nothing: a round's files are in its answer, and are taken away here. Everything it says is plain data.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autotest.campaign import outcome
from autotest.campaign.log import Round
from autotest.campaign.process import Process
from autotest.campaign.remote.scratch import Scratch
from reports import last_begun


class SlotActor:
    """Runs the rounds of one slot. An answer of `ended` says that its process has: another actor is to be started.

    Args:
        home: the folder in which the tests are collected; it has to be there, with what the campaign was given.
        tests: the test files that the campaign has written, by their paths from `home`, and their texts.
        told: what the process's plugin is told, but for the folder of the records.
    """

    def __init__(
        self, number: int, home: str, arguments: Sequence[str], tests: Mapping[str, str], told: dict[str, Any]
    ) -> None:
        if not Path(home).is_dir():
            raise NotADirectoryError(
                f"{os.uname().nodename} has no folder {home}, but every node should have the campaign's, with its tests"
            )
        os.chdir(home)
        for path, text in tests.items():
            _write(Path(path), text)
        self._scratch = Scratch()
        self._run = self._scratch.path / Path(told["autotest_folder"]).name
        self._run.mkdir()
        here = {**told, "autotest_folder": str(self._run)}
        self._process = Process(number, arguments, here, self._scratch.path / "output")

    def pid(self) -> int:
        """Of this actor."""
        return os.getpid()

    def tests(self) -> dict[str, Any]:
        """Wait for the tests that it has collected."""
        return self._next()

    def run(self, round_: Round, options: dict[str, Any]) -> dict[str, Any]:
        """Run a round; what it says at the end, with its `files` by their paths in the run's folder."""
        self._process.run(round_, options)
        answer = self._next()
        answer["files"] = outcome.files(self._run, round_.worker)
        outcome.forget(self._run, round_.worker)
        return answer

    def started(self, round_: Round, after: float) -> dict[str, Any]:
        """After so many seconds the case that a round has begun last."""
        time.sleep(after)
        return {"round": round_.number, "started": last_begun(self._run, round_.worker)}

    def close(self) -> None:
        """End the process, and leave nothing behind."""
        self._process.close()
        self._scratch.close()

    def _next(self) -> dict[str, Any]:
        while True:
            select.select([self._process.answers], [], [])
            heard = self._process.heard()
            if heard is None:
                how = {"ended": self._process.how_it_ended(), "killed": self._process.killed}
                return {**how, "words": self._process.last_words()}
            if heard:
                return heard[0]  # it says one thing at a time


def _write(path: Path, text: str) -> None:
    """Write a file that may be there already, on a disk that nodes share: another may read it meanwhile."""
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.{os.uname().nodename}-{os.getpid()}")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


__all__ = ["SlotActor"]
