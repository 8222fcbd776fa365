"""What no process of a run can record of itself: a test file that cannot be imported, a test in which the process
ended, and what is decorated, but never run.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Generator, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from autotest.options import RunOptions

#: The name of the record file: no worker has it.
WORKER = "controller"
#: What pytest itself says of a test that is not there begins so.
USAGE = "ERROR: "
#: The name by which a ledger that cannot be used is among the tests that failed.
LEDGER = "the ledger"
#: So many characters of a traceback are recorded, its last ones.
MOST_TRACE = 8000


class Unrecorded:
    """A plugin of the process that sums up: xdist hands it what workers could not collect, and which ended."""

    def __init__(self) -> None:
        #: By node id, what pytest shows of each that could not be collected.
        self.uncollected: dict[str, str] = {}
        #: By node id, the worker that ended in a test, and what is known of that.
        self.ended: dict[str, tuple[str, str]] = {}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep what has failed."""
        if report.failed:
            self.uncollected.setdefault(report.nodeid, report.longreprtext)

    def record(self, folder: Path, options: RunOptions, problems: Sequence[str]) -> None:
        """Record each as a test that failed, and what is wrong with ledgers as another, so that no run is called
        aligned that has not read what is known. Raises RecordError where it cannot be written.
        """
        ledgers = [problem for problem in problems if not problem.startswith(USAGE)]
        if not (self.uncollected or self.ended or ledgers):
            return
        from autotest.run.session import open_records

        with open_records(folder, WORKER, {}, options) as writer:
            for nodeid, text in self.uncollected.items():
                writer.test(nodeid, 0.0, "failed", None, f"at collection: {_raised(text)}", text[-MOST_TRACE:])
            for nodeid, (worker, words) in self.ended.items():
                writer.test(nodeid, 0.0, "failed", None, words, process=worker)
            for problem in ledgers:
                writer.test(LEDGER, 0.0, "failed", None, problem)


class Uncalled:
    """A plugin that warns of functions of test files that are decorated by @autotest, but are no tests, and called by
    nobody there.
    """

    @pytest.hookimpl(wrapper=True)
    def pytest_pycollect_makeitem(
        self, collector: pytest.Module | pytest.Class, name: str, obj: Any
    ) -> Generator[None, object, object]:
        """Look at what has made no test."""
        made = yield
        decorated = inspect.isfunction(obj) and hasattr(obj, "autotest_options")
        if decorated and not made and isinstance(collector, pytest.Module) and _is_alone(name, obj, collector.obj):
            from autotest.cases.places import warn_at

            patterns = ", ".join(f"{pattern}*" for pattern in collector.config.getini("python_functions"))
            warn_at(
                inspect.unwrap(obj),
                f"{name} is decorated by @autotest, but is no test, and nothing in its file calls it: give it a name "
                f"that pytest takes tests by ({patterns})",
            )
        return made


def is_outside(raised: pytest.ExceptionInfo[BaseException] | None) -> bool:
    """Whether a test that is not decorated has failed for what only one that is can do: to import that class, of which
    there are two, would take NumPy.
    """
    return raised is not None and type(raised.value).__name__ == "OutsideCaseError"


def _is_alone(name: str, function: Any, module: ModuleType) -> bool:
    """Whether a function stands in this module, which names it nowhere else."""
    here = function.__module__ == module.__name__
    return here and len(re.findall(rf"\b{re.escape(name)}\b", inspect.getsource(module))) == 1


def _raised(text: str) -> str:
    """What was raised, as the last of the lines that pytest marks with an E says; else the first line."""
    lines = text.splitlines()
    marked = [line[1:].strip() for line in lines if line.startswith("E  ")]
    return marked[-1] if marked else lines[0] if lines else "it cannot be collected"
