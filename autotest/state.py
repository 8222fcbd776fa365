"""What the plugin keeps in `config.stash`: the run's options, this process's session, and what is shown of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest

from autotest.campaign.environment import slot_input
from autotest.exits import USAGE
from autotest.ranks.environment import rank_input
from autotest.run.unrecorded import Unrecorded

if TYPE_CHECKING:
    from autotest.options import RunOptions
    from autotest.run.progress.ticker import Ticker
    from autotest.run.session import Session


def is_autotest(item: pytest.Item) -> bool:
    """Whether a test is decorated by @autotest."""
    return getattr(getattr(item, "function", None), "autotest_options", None) is not None


def refuse_given(item: pytest.Item) -> None:
    """Raise UsageError where Hypothesis would call a test of ours, many times over: the cases are drawn here."""
    if is_autotest(item) and getattr(getattr(item, "function", None), "is_hypothesis_test", False):
        from autotest.errors import UsageError

        raise UsageError(
            f"{item.name} is decorated by @given as well as by @autotest, but should be by one of both: take "
            "@given off, and draw arguments in the body by generators, such as k = random(1, 5)"
        )


class State:
    """What the plugin keeps."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.rank = rank_input()
        self.slot = slot_input()
        self.worker: dict[str, Any] | None = getattr(config, "workerinput", None) or self.rank or self.slot
        self.started = False
        #: The test that this process's session was turned to last.
        self.item: pytest.Item | None = None
        self.text = ""
        self.annotations: Sequence[str] = ()
        self.problems: list[str] = []
        self.unrecorded = Unrecorded()
        #: The cases of all collected tests.
        self.planned = 0
        #: All tests of ours that were collected, whichever process runs them.
        self.collected: Sequence[pytest.Item] = ()
        self.ticker: Ticker | None = None
        self._session: Session | None = None
        self._options: RunOptions | None = None

    @property
    def options(self) -> RunOptions:
        """The run's options; raises UsageError for values that mean nothing."""
        if self._options is None:
            from autotest.shadows import check_shadows

            check_shadows()
            from autotest.run.settings import run_options

            self._options = run_options(self.config, self.worker)
        return self._options

    def session(self) -> Session:
        """The session of this process, made when the first @autotest test runs."""
        if self._session is None:
            from autotest.ranks.target import inline_target
            from autotest.run.session import Session, current_session

            self._session = Session(self.options, inline_target)
            self._session.planned = self.planned
            if self._foresees:
                from autotest.run.neighbours import Neighbours, neighbours

                self._session.foresee = Neighbours(self._session, neighbours(self.collected)).foresee
            current_session.set(self._session)
        return self._session

    @property
    def _foresees(self) -> bool:
        """Whether cases are drawn before their tests run. In the place of a worker of xdist that has ended none are:
        whatever has ended it would end this one as well, with another test.
        """
        if self.rank is not None or self.slot is not None or self.options.case is not None:
            return False
        worker = self.worker
        return worker is None or int(worker["workerid"].removeprefix("gw")) < worker["workercount"]

    def show_progress(self) -> None:
        """Show how far the run is, where this is the process that prints and no debugger wants the terminal."""
        if self.ticker is not None or self.worker is not None or self.config.get_verbosity() < -1:
            return
        if self.config.getoption("usepdb") or self.config.getoption("trace") or self.options.folder is None:
            return
        from autotest.run.progress.ticker import Ticker, own_output, sign_for

        output = own_output()
        if output is not None:
            self.ticker = Ticker(self.options.folder, sign_for(output))

    def hide_progress(self) -> None:
        """Show it no more."""
        if self.ticker is not None:
            self.ticker.stop()

    def turn_to(self, item: pytest.Item) -> Session:
        """The session, turned to a test."""
        self.started = True
        session = self.session()
        if self.item is not item:
            self.item = item
            session.nodeid = item.nodeid
            session.test_file = item.path
            session.excuse = _excuse(item)
            session.counts.clear()
            session.worst.clear()
            session.nested, session.calls = not is_autotest(item), 0
        return session

    def lend(self, item: pytest.Item, running: Session | None, function: object) -> Session:
        """The session for what a test calls: another one that runs is somebody's own."""
        return self.turn_to(item) if running is None or running is self._session else running

    def ran(self, item: pytest.Item) -> bool:
        """Whether `item`, which was run last, is a test of ours, or called one."""
        session = self._session
        return session is not None and self.item is item and (is_autotest(item) or session.calls > 0)

    def heed_problems(self, session: pytest.Session) -> None:
        """Where a ledger is no good the status is that of a wrong usage, also where tests are red: it may know them."""
        if self.problems and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            session.exitstatus = USAGE

    def close(self) -> None:
        """End the session's worker and records."""
        if self._session is not None:
            ledgers = vars(self._session).get("ledgers")  # None also where nobody has asked: then none was read
            self.problems += ledgers.problems() if ledgers is not None else []
            self._session.close()
            self._session = None


def _excuse(item: pytest.Item) -> str | None:
    """The mark by which a test is expected to diverge, in words; None for a test that is not."""
    if getattr(getattr(item, "function", None), "__unittest_expecting_failure__", False):
        return "unittest.expectedFailure"
    if item.config.option.runxfail or item.get_closest_marker("xfail") is None:
        return None
    from _pytest.skipping import evaluate_xfail_marks  # no public name has what pytest makes of a mark's conditions

    from autotest.errors import DivergenceError

    mark = evaluate_xfail_marks(item)
    if mark is None:
        return None
    raises = mark.raises
    if not (raises is None or (isinstance(raises, (type, tuple)) and issubclass(DivergenceError, raises))):
        return None
    return f"xfail: {mark.reason}" if mark.reason else "xfail"


STATE: pytest.StashKey[State] = pytest.StashKey()


__all__ = ["STATE", "State", "is_autotest"]
