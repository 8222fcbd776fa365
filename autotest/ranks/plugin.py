"""The pytest plugin of a rank: it finds the other ranks before the tests are collected, and notes where it is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from autotest.errors import EnvironmentFault
from autotest.exits import USAGE
from autotest.ranks.environment import Resume
from autotest.ranks.peers import Notes, Peers
from autotest.ranks.target import RankTarget
from autotest.workers.inline import load_inline
from autotest.workers.server import die_with_parent

if TYPE_CHECKING:
    from autotest.run.session import Session


class RankPlugin:
    """Registered by the plugin where the launcher told this process that it is a rank."""

    def __init__(self, session: Callable[[], Session], rank_input: dict[str, Any]) -> None:
        die_with_parent()
        self._session = session
        self._notes = Notes(Path(rank_input["notes"]))
        self._notes.write(test="the start of the target")
        self._resume: Resume | None = None if rank_input.get("resume") is None else Resume(**rank_input["resume"])
        self._pytest: pytest.Session | None = None
        self._peers: Peers | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Import the target, which waits for the other ranks."""
        self._pytest = session
        try:
            ranked = RankTarget(load_inline(self._session().launch.loads).adapter, self._notes)
        except EnvironmentFault as fault:
            self._notes.write(stage="refused", said=str(fault))
            pytest.exit(str(fault), returncode=USAGE)
        self._peers = ranked.peers
        self._session().run_inline_on(ranked, ranked.peers)
        self._notes.write(test="the collection of the tests")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out what other ranks have run before they were ended."""
        names = [item.nodeid for item in items]
        if self._resume is None or self._resume.test not in names:
            return
        start = names.index(self._resume.test)
        config.hook.pytest_deselected(items=items[:start])
        items[:] = items[start:]
        self._session().resumed = {self._resume.test: self._resume.ended}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """See that all ranks have the same tests in the same order."""
        assert self._peers is not None, "joined at the start"
        names = "\n".join(item.nodeid for item in session.items)
        digests = self._peers.share("the end of the collection", hashlib.sha256(names.encode()).hexdigest())
        if len(set(digests)) > 1:
            sentence = "the ranks collected different tests, but should collect the same ones in the same order"
            self._notes.write(stage="refused", said=sentence)
            pytest.exit(sentence, returncode=USAGE)
        self._notes.write(stage="ready", test="")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Note the test that begins."""
        self._notes.write(test=nodeid, key="", op="", configuration="")

    def pytest_unconfigure(self) -> None:
        """Note that the tests have ended, and how."""
        if self._notes.note.stage == "ready" and self._pytest is not None:
            self._notes.write(stage="ended", status=int(self._pytest.exitstatus))
        self._notes.close()
