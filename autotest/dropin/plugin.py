"""The hooks of a drop-in run, registered where `--autotest-drop-in` is given."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

import pytest

from autotest.dropin.finder import install, uninstall
from autotest.dropin.state import State, current_state

if TYPE_CHECKING:
    from autotest.run.session import Session


class DropIn:
    """Answers for OneFlow's harness as long as it lives, and surrounds every test and every collected file."""

    def __init__(self, session: Callable[[], Session]) -> None:
        self._session = session
        self.state = State()
        current_state.set(self.state)
        install()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Let a file draw while it is imported."""
        if not isinstance(collector, pytest.Module):
            return (yield)
        with self._surrounded(collector.nodeid):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Let a test, its setup and teardown draw, and make dual calls, outside of its cases."""
        with self._surrounded(item.nodeid):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Generator[None, object, object]:
        """Let what several tests share, such as `setUpClass`, draw the same whichever of them comes first."""
        if fixturedef.scope == "function":
            return (yield)
        with self._surrounded(request.node.nodeid):
            return (yield)

    def _surrounded(self, nodeid: str) -> Any:
        from autotest.cases.case import case_test_name
        from autotest.dropin.item import surrounded

        return surrounded(self._session(), case_test_name(nodeid))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take in what an xdist worker profiled."""
        output = getattr(node, "workeroutput", None) or {}
        self.state.tables += output.get("autotest_tables", [])

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hand what was profiled to the process that tells of it."""
        if hasattr(session.config, "workerinput"):
            session.config.workeroutput["autotest_tables"] = self.state.tables  # type: ignore[attr-defined]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print what was profiled."""
        if self.state.tables:
            terminalreporter.section("autotest profile")
            for table in self.state.tables:
                terminalreporter.write_line(table)

    def pytest_unconfigure(self) -> None:
        """Leave OneFlow's harness to itself again."""
        uninstall()
