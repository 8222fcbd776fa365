"""`autotest replay CASE PATH`: a case drawn again from its key alone, on whichever machine."""

from __future__ import annotations

import contextlib
import difflib
import io
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autotest.cases.digest import STEERED, program_digest
from autotest.cases.store import ReplayError
from autotest.commands.run import pytest_arguments
from autotest.exits import CANNOT_RUN, GONE, STANDS
from autotest.options.table import OPTIONS
from reports import ReportError, failure_text, read_run, runs
from reports.records.run import Damage

if TYPE_CHECKING:
    import pytest

    from dual_object.program.program import Program

#: The number of a case in its test, and where it is from: `3`, of another seed `3@7`, laid out `0@laid`.
_INDEX = re.compile(r"\d+(@\w+)*")
#: So many tests are named where the one asked for is not there.
MOST_NAMED = 5


@dataclass(slots=True)
class Recall:
    """A plugin that keeps the one test of a case key, and what its case came to. `names` are those of all tests, `said`
    is what pytest shows of its failure.
    """

    key: str
    names: list[str] = field(default_factory=list)
    chosen: int = 0
    program: Program | None = None
    said: str = ""

    @property
    def test(self) -> str:
        """The test that draws the case; a call of an inner test is numbered after a tilde."""
        return self.key.rpartition("#")[0].partition("~")[0]

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the test."""
        from autotest.cases.case import case_test_name

        self.names = [case_test_name(item.nodeid) for item in items]
        items[:] = [item for item, name in zip(list(items), self.names, strict=True) if name == self.test]
        self.chosen = len(items)

    def pytest_runtest_teardown(self) -> None:
        """Take the Program before the session ends."""
        from autotest.run.session import current_session

        session = current_session.get(None)
        self.program = None if session is None else session.drawn

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep how it failed."""
        if report.failed:
            self.said = report.longreprtext


def check_key(key: str) -> None:
    """Refuse what is no case key; raises ReplayError."""
    test, _, index = key.rpartition("#")
    if "::" not in test or not _INDEX.fullmatch(index):
        raise ReplayError(f"ID={key!r}, but should be eight digits, or a case key such as test_x.py::test_y#3")


def replay_case(
    key: str, path: str, report: Path, timeout: float | None, given: Mapping[str, str | None], memory: int | None = None
) -> tuple[int, str]:
    """Draw case `key` of the tests under `path` again and run it on both sides; exit status and what to print.

    `given` are the target, its interpreter, seed and inputs, None for the default of a run. The Program is held against
    what a run of `report` recorded of the same case. Raises ReplayError.
    """
    import pytest

    check_key(key)
    recall = Recall(key)
    asked = {name: OPTIONS[name].default if value is None else value for name, value in given.items()}
    out = io.StringIO()
    with tempfile.TemporaryDirectory(prefix="autotest-replay-") as place:
        options = {**asked, "report": place, "case": key, "repro_total": "0", "case_timeout": timeout or 0}
        options["memory_limit"] = None if memory is None else str(memory)
        arguments = ["-q", "-p", "no:cacheprovider", "-W", "ignore:Module already imported", path]
        arguments += pytest_arguments(options)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            status = int(pytest.main(arguments, plugins=[recall]))
        ends = list(_ends(Path(place), key))
    if not recall.chosen:
        raise ReplayError(_unknown(recall, path, out.getvalue()))
    if recall.chosen > 1:
        raise ReplayError(f"{key} names {recall.chosen} tests under {path}: name the file of one")
    if not ends and recall.said:
        raise ReplayError(f"{key} gave no case, for its test failed:\n{recall.said}")
    if recall.program is None or not ends:
        said = [line for line in out.getvalue().splitlines() if line.strip()]
        raise ReplayError(f"{key} gave no case (pytest ended with {status}): {' '.join(said[-3:])}")
    same = {name: asked[name] for name in ("target", "seed", "inputs")}
    return _verdict(key, recall.program, ends[-1], _recorded(report, key, same))


def _unknown(recall: Recall, path: str, out: str) -> str:
    if not recall.names:
        said = [line for line in out.splitlines() if line.strip()]
        return f"no test could be collected under {path}: {said[-1] if said else 'pytest said nothing'}"
    near = difflib.get_close_matches(recall.test, recall.names, MOST_NAMED, 0.0)
    more = len(recall.names) - len(near)
    return f"there is no test {recall.test} under {path}, but {', '.join(near)}" + (f" and {more} more" if more else "")


def _ends(report: Path, key: str) -> Iterator[dict[str, Any]]:
    """The end records of a case in all runs of a report folder, oldest first, each with its run and what that run was
    asked for.
    """
    for run in runs(report):
        try:
            asked: dict[str, Any] = {}
            for _, record in read_run(run).lines():
                if isinstance(record, Damage):
                    continue
                if record["type"] == "run":
                    asked = {"seed": str(record["seed"]), "inputs": record.get("inputs")}
                elif record["type"] == "end" and record["key"] == key:
                    yield {**record, **asked, "run": run}
        except ReportError as error:
            raise ReplayError(str(error)) from None


def _recorded(report: Path, key: str, asked: Mapping[str, Any]) -> tuple[str, Path] | None:
    """The digest that the newest run asked for the same recorded of a case, and that run."""
    recorded: tuple[str, Path] | None = None
    for end in _ends(report, key):
        for row in end["divergences"]:
            if "digest" in row and asked == {"target": row["target"], "seed": end["seed"], "inputs": end["inputs"]}:
                recorded = row["digest"], end["run"]
    return recorded


def _verdict(key: str, program: Program, end: dict[str, Any], recorded: tuple[str, Path] | None) -> tuple[int, str]:
    digest = program_digest(program)
    same = recorded is None or recorded[0] == digest
    if recorded is None:
        proof = "no run here found a divergence in it"
    elif same:
        proof = f"that of {recorded[1].name}"
    else:
        proof = f"{recorded[1].name} recorded another: sha256 {recorded[0]}"
    lines = [f"program: sha256 {digest} ({proof})"]
    lines += [] if same else [f"this is another program than was recorded: {STEERED}"]
    gone = GONE if same else CANNOT_RUN
    if end["divergences"]:
        return STANDS, "\n".join([f"{key} diverges", *lines, "", failure_text(end["divergences"], cases=1)])
    if end["verdict"] == "rejected":
        return gone, "\n".join([f"{key} is rejected: {end['reason']}", *lines, "", str(program)])
    return gone, "\n".join([f"{key} is {end['verdict']}", *lines, "", str(program)])


__all__ = ["Recall", "check_key", "replay_case"]
