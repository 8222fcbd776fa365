"""The run of a contract: asked, recorded like a case, held against the ledger, and raised where it is red."""

from __future__ import annotations

import importlib
import shlex
import time
from unittest import SkipTest

from autotest.compare.divergence import Row, new_row
from autotest.errors import DivergenceError
from autotest.judge.contracts import VERDICTS, Question
from autotest.ledger.check import StaleEntryError
from autotest.ledger.contracts import keep, stale_contracts
from autotest.run.results import levelled
from autotest.run.session import Session
from autotest.workers.contracts import Answer, Contract, answer
from reports import RED_LEVELS, failure_text


class ContractRun:
    """The run of one test of a contract, whose function has this `source`. `run` raises DivergenceError,
    StaleEntryError, UsageError, SkipTest.
    """

    def __init__(self, session: Session, nodeid: str, key: str, question: Question, source: str) -> None:
        self._session = session
        self._nodeid = nodeid
        self._test = key
        self._key = f"{key}#0"
        self._question = question
        self._source = source
        self._ledger = session.ledger()

    def run(self, contract: Contract) -> None:
        """Ask the target, or with `--isolate never` this process, and tell what comes of it."""
        session = self._session
        session.progress.begins(self._nodeid, 1)
        started = time.perf_counter()
        if session.writer is not None:
            session.writer.start(self._nodeid, self._key, 0)
        if session.options.isolate == "never":
            session.inline.info()  # which imports the target, and whatever it needs first
            given = answer(contract, importlib.import_module(contract.target), self._question.arguments)
        else:
            given = self._question.ask(session.functions)
        session.record_target()
        rows = [] if given.outcome in ("kept", "skipped") else [self._row(given)]
        self._record(given, rows, time.perf_counter() - started)
        if given.outcome == "skipped":
            raise SkipTest(given.detail)
        self._raise(rows)

    def _row(self, given: Answer) -> Row:
        """The divergence as the records have it."""
        session, question = self._session, self._question
        identity = question.identity(session.called[0], given)
        replay = f"autotest run {shlex.quote(self._nodeid)}"
        row = new_row(identity, self._nodeid, self._key, question.message(given), replay)
        died = given.outcome not in ("broken", "unsupported")
        evidence: dict[str, object] = {
            "program": self._source,
            "inputs": [],
            "blamed_line": given.line,
            "last_words": given.detail if died else None,
            "facts": [],
            "words": [],
            "worst": [],
            "heat": None,
            "histogram": None,
        }
        if session.options.folder is not None:
            keep(session.options.folder, row["id"], question, self._source)
        return {**levelled(row, session, self._ledger), "evidence": evidence}

    def _record(self, given: Answer, rows: list[Row], seconds: float) -> None:
        session, verdict = self._session, VERDICTS[given.outcome]
        session.counts[verdict] += 1
        session.progress.case_ended()
        if session.writer is not None:
            session.writer.end(
                self._nodeid,
                self._key,
                verdict,
                reason=given.detail if given.outcome == "skipped" else None,
                seconds=seconds,
                divergences=rows,
            )

    def _raise(self, rows: list[Row]) -> None:
        """Tell what is red, and what the ledger has of this test that shows no more."""
        session, about = self._session, self._ledger.about(self._test)
        entries = [entry for entry in about if entry.contract]
        seen = [row["fingerprint"] for row in rows]
        stale = stale_contracts(lambda: session.functions, session.target_info, entries, seen)
        red = [row for row in rows if row["level"] in RED_LEVELS or row["reason"] == session.excuse is not None]
        if red:
            raise DivergenceError("\n\n".join([failure_text(red, cases=1, width=session.options.width), *stale]))
        if stale:
            raise StaleEntryError("\n".join(stale))


__all__ = ["ContractRun"]
