"""A slot of a campaign: a pytest process that runs rounds of tests as it is told, one after the other.

It collects the tests once. Orders and answers are lines of JSON in two pipes; a slot goes with its driver.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import psutil
import pytest

from autotest.campaign.environment import SLOT
from autotest.campaign.log import VISIT
from autotest.cases.case import case_test_name
from autotest.workers.server import die_with_parent

if TYPE_CHECKING:
    from autotest.run.session import Session


class SlotPlugin:
    """Registered by the plugin where the driver told this process that it is a slot."""

    def __init__(self, session: Callable[[], Session], slot: dict[str, Any]) -> None:
        die_with_parent()
        os.environ.pop(SLOT)  # a process that this one starts is no slot
        self._session = session
        self._spent: dict[str, float] = {}
        self._orders = os.fdopen(slot["orders"], "r", encoding="ascii")
        self._answers = os.fdopen(slot["answers"], "w", encoding="ascii", buffering=1)

    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Say which tests there are, and run those of each round, until no more orders come."""
        if session.testsfailed:  # pytest says what it could not collect
            return None
        items = {item.nodeid: item for item in session.items if _is_autotest(item)}
        self._say(tests={test: _drawn(item) for test, item in items.items()})
        for line in self._orders:
            order = json.loads(line)
            self._run(order, items)
            self._forget(session)
            if session.shouldstop:
                self._say(stop=str(session.shouldstop))
                return True
            self._say(done=order["round"], **self._spent, memory=psutil.Process().memory_info().rss)
        return True

    def _run(self, order: dict[str, Any], items: dict[str, pytest.Item]) -> None:
        """Run the visits of a round; its records are whole when this returns."""
        run = self._session()
        run.turn_to(**{**order["options"], "settled": frozenset(order["options"]["settled"])})
        assert run.writer is not None, "a slot keeps records, of a round of which everything is left out as well"
        began = _computed()
        avoided = run.options.avoided
        visits = [visit for visit in order["visits"] if case_test_name(visit[0]) not in avoided]
        for place, (test, options) in enumerate(visits):
            item = items[test]
            run.options = replace(run.options, **options)
            # pytest sets a test up anew only when another one, or none, has come after it.
            ahead = [test for test, _ in visits[place + 1 : place + 2] if test != item.nodeid]
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=items[ahead[0]] if ahead else None)
            item.user_properties.clear()
            if item.session.shouldstop:
                return
        looked = sum(budget.total - budget.left for budget in (run.shrinking, run.attributing))
        self._spent = {"cpu": _computed() - began, "look": looked}
        run.end_records()

    def _forget(self, session: pytest.Session) -> None:
        """Take away the reports of tests, of which pytest would keep all that ever ran."""
        reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.stats.clear()

    def _say(self, **answer: Any) -> None:
        self._answers.write(json.dumps(answer) + "\n")


def _is_autotest(item: pytest.Item) -> bool:
    return getattr(getattr(item, "function", None), "autotest_options", None) is not None


def _drawn(item: pytest.Item) -> int:
    """How many cases a visit of a test draws: those of a test that asks for few of them take long."""
    n: int = cast("pytest.Function", item).function.autotest_options.n
    return min(n, VISIT)


def _computed() -> float:
    """The seconds of computing of this process and of the targets that it has now, and those that have ended, as
    children of this process or of the one that forks them.
    """
    this = psutil.Process()
    seconds = 0.0
    for process in (this, *this.children(recursive=True)):
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue  # it has just ended
        seconds += times.user + times.system + times.children_user + times.children_system
    return seconds


__all__ = ["SlotPlugin"]
