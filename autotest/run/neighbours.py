"""The tests that run beside a test: what its neighbours will ask a graph for, before they run.

Groups are of tests that follow one another in the collection, whichever process runs them: a second run has the same
graphs, and finds them in the cache that a compiler keeps.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from autotest.cases.case import Case, case_test_name
from autotest.judge.graph_batches import MAX_PROGRAMS, backward_share
from autotest.judge.second_call import drawing
from autotest.judge.shared_graphs import Foreseen
from autotest.options import TestOptions
from autotest.run.draws import Draws
from autotest.run.session import Session

#: A test that is marked so may not run at all, or not to its end.
_MARKS = ("skip", "skipif", "usefixtures", "xfail")


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A test that was collected, whose body can run before it: it wants nothing but its parameters."""

    nodeid: str
    options: TestOptions
    body: Callable[[], Any]


def neighbours(items: Iterable[pytest.Item]) -> Iterator[Neighbour]:
    """Those of the items whose bodies can run before their tests do."""
    for item in items:
        if not isinstance(item, pytest.Function) or item.cls is not None:
            continue
        options: TestOptions | None = getattr(item.function, "autotest_options", None)
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        marked = any(item.get_closest_marker(mark) for mark in _MARKS)
        if options is None or marked or not {*item.fixturenames} <= parameters.keys():
            continue
        body = getattr(item.function, "__wrapped__", None)
        if body is None or hasattr(body, "autotest_options"):
            continue  # another decorator stands above @autotest: what it makes of the test, its run alone shows
        yield Neighbour(item.nodeid, options, partial(body, **parameters))


class Neighbours:
    """The neighbours of each test of a session, and what they will ask a graph for."""

    def __init__(self, session: Session, tests: Iterable[Neighbour]) -> None:
        self._session = session
        self._groups = {test.nodeid: group for group in self._grouped(tests) for test in group}
        self._group: Sequence[Neighbour] = ()
        self._foreseen: Sequence[Foreseen] = ()

    def foresee(self) -> Sequence[Foreseen]:
        """The cases of the running test and its neighbours; the same object as long as these are the same."""
        group = self._groups.get(self._session.nodeid or "", ())
        if group is not self._group:
            self._group = group
            self._foreseen = [foreseen for test in group for foreseen in self._of(test)]
            if group and self._session.writer is not None:
                self._session.writer.ahead(None)
        return self._foreseen

    def _grouped(self, tests: Iterable[Neighbour]) -> Iterator[list[Neighbour]]:
        """The tests that want few graphs, in groups of several whose cases fill one."""
        group: list[Neighbour] = []
        filled = 0
        for test in tests:
            n = test.options.count(self._session.options)
            if not n or not test.options.check_graph or test.options.train is not None:
                continue
            if filled + n > MAX_PROGRAMS:
                if len(group) > 1:
                    yield group
                group, filled = [], 0
            group.append(test)
            filled += n
        if len(group) > 1:
            yield group

    def _of(self, test: Neighbour) -> Iterator[Foreseen]:
        """What a test will ask for. Where its body raises it will do so again when the test runs, which tells of it."""
        session, cases = self._session, list[Case]()
        drawer = session.drawer(case_test_name(test.nodeid), test.options, test.body)
        draws = Draws(drawer, session.options, test.options.count(session.options))
        # What it prints and warns of belongs to its own test, too.
        with contextlib.suppress(Exception, pytest.skip.Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                for index in draws.numbers():
                    if session.writer is not None:  # PyTorch itself may end this process
                        session.writer.ahead(drawer.key(index))
                    drawn = drawer.draw(index)
                    if isinstance(drawn, Case):
                        cases.append(drawn)
                        draws.accepted += 1
                    else:
                        draws.rejections.append(drawn)
        again = drawing(session.reference)
        share = backward_share(cases, test.options.graph_backward)
        yield from (Foreseen(case, case.key in share, again(case)) for case in cases)


__all__ = ["Neighbour", "Neighbours", "neighbours"]
