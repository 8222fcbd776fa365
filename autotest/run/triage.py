"""Triage: the first divergence of each red fingerprint, made minimal, attributed to a side, and given a script."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from autotest.compare.divergence import Divergence, Row
from autotest.options import TestOptions
from autotest.run.session import Session
from reports.folders.repros import script_path

if TYPE_CHECKING:
    from autotest.cases.drawer import Drawer
    from autotest.oracle.attribution import Attribution
    from autotest.shrink.shrinker import Shrunk

Outcome = TypeVar("Outcome")


class Triage:
    """Looks closer at what is red in one test.

    `evidence` is what that adds to each fingerprint's evidence; `scripts` are where repro scripts will lie once the run
    has ended, by the divergence's id.
    """

    def __init__(self, session: Session, nodeid: str, options: TestOptions) -> None:
        self.evidence: dict[str, dict[str, object]] = {}
        self.scripts: dict[str, Path] = {}
        self._session = session
        self._nodeid = nodeid
        self._options = options
        #: The first divergence of each red fingerprint, by id.
        self._first: dict[str, tuple[Divergence, Row]] = {}

    def take(self, divergence: Divergence, row: Row) -> None:
        """Look closer at this one later, if it is the first of its fingerprint."""
        self._first.setdefault(row["id"], (divergence, row))

    def foresee_script(self, divergence: Divergence, row: Row, run: Path) -> None:
        """Note where the script of a stored divergence will lie, if it can have one."""
        from autotest.repro import obstacle

        if obstacle(row, divergence.proof) is None:
            self.scripts[row["id"]] = script_path(run, row["id"])

    def run(self, drawer: Drawer, *, inline: bool) -> None:
        """Shrink each red fingerprint, the worst first, then attribute each to a side, by its minimal Program where it
        has one. `inline`: the test ran inline.
        """
        if not self._first:
            return
        from autotest.shrink.shrinker import worst_first

        rows = worst_first([row for _, row in self._first.values()])
        minimal: dict[str, Divergence] = {}
        for row in rows if self._session.options.shrink else ():
            shrunk = self._shrunk(self._first[row["id"]][0], row, drawer, inline=inline)
            self._record_shrunk(row, shrunk)
            if shrunk.divergence is not None:
                minimal[row["id"]] = shrunk.divergence
        for row in rows if self._session.options.blame_total else ():
            divergence = minimal.get(row["id"], self._first[row["id"]][0])
            self._record_attribution(row, self._attribution(divergence, row, inline=inline))

    def _shrunk(self, divergence: Divergence, row: Row, drawer: Drawer, *, inline: bool) -> Shrunk:
        from autotest.shrink.shrinker import Shrunk, shrink

        if inline:
            return Shrunk(None, "its test runs inline, where the target is not run again", 0.0, 0)
        session = self._session
        return self._guarded(
            f"shrinking {row['fingerprint']}",
            lambda: shrink(
                session.reference,
                session.supervisor.stage(row["target"]),
                drawer,
                self._options.rules,
                divergence,
                drawer.place(row["case_key"]),
                session.shrinking,
            ),
            lambda fault: Shrunk(None, fault, 0.0, 0),
        )

    def _attribution(self, divergence: Divergence, row: Row, *, inline: bool) -> Attribution:
        from autotest.oracle.attribution import Attribution, attribute

        if inline:
            return Attribution("not judged", "its test runs inline, where the target is not run again")
        session, rules = self._session, self._options.rules
        name = row["target"]
        return self._guarded(
            f"blaming {row['fingerprint']}",
            lambda: attribute(
                session.reference, session.supervisor.stage(name), name, rules, divergence, session.attributing
            ),
            lambda fault: Attribution("not judged", fault),
        )

    def _guarded(self, doing: str, look: Callable[[], Outcome], instead: Callable[[str], Outcome]) -> Outcome:
        """What a look has found. Where the harness itself fails, that is recorded and `instead` gets it: the divergence
        must be reported all the same.
        """
        try:
            with self._session.progress.doing(doing):
                return look()
        except Exception as error:
            fault = f"{doing} failed: {type(error).__name__}: {error}"
            if self._session.writer is not None:
                self._session.writer.fault(self._nodeid, fault, traceback.format_exc())
            return instead(
                f"a fault of the harness, please report it with its traceback, which the run's records have: {fault}"
            )

    def _record_shrunk(self, row: Row, shrunk: Shrunk) -> None:
        session, record = self._session, shrunk.record()
        self._add(row, shrunk=record)
        if session.writer is not None:
            session.writer.shrunk(self._nodeid, row["fingerprint"], record)
        if session.store is not None and shrunk.program is not None:
            session.store.save_shrunk(shrunk.program, row, self._options.rules, session.options.worker)

    def _record_attribution(self, row: Row, attribution: Attribution) -> None:
        record = attribution.record()
        self._add(row, blame=record)
        if self._session.writer is not None:
            self._session.writer.blamed(self._nodeid, row["fingerprint"], record)

    def _add(self, row: Row, **evidence: object) -> None:
        self.evidence.setdefault(row["fingerprint"], {}).update(evidence)


__all__ = ["Triage"]
