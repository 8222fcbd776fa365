"""The results of one test, recorded case by case: each divergence with its level and evidence."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from functools import partial

from autotest.cases.case import case_test_name
from autotest.cases.digest import program_digest
from autotest.cases.drawer import LAYING
from autotest.cases.store import KEPT_CASES
from autotest.compare.causes import cause
from autotest.compare.divergence import Divergence, Row
from autotest.compare.evidence.value_types import value_types
from autotest.judge.consensus import Consensus
from autotest.judge.judgement import Checks, Verdict
from autotest.ledger.entries import Ledger
from autotest.options import TestOptions
from autotest.oracle.undecidable import UNRECORDED, Doubt
from autotest.run.session import Session
from autotest.run.triage import Triage
from dual_object.program.program import Program
from reports import RED_LEVELS

#: That so many cases are undecidable, and not one is decided, is no chance.
NO_CHANCE = 5
#: Where so many cases, and half of them, come out otherwise by their recorded calls, the body does what none tells.
FEWEST_PAST = 2


class Verdicts:
    """What one test's cases have come to.

    Attributes:
        rows: the red divergences, as the records have them; `excused`: those that a mark of the test expects.
        fingerprints: of all divergences, accepted ones included.
        ended: verdicts by case key.
        consensus: with whom they are agreed on.
        triage: the closer look at what is red.
    """

    def __init__(self, session: Session, nodeid: str, options: TestOptions, ledger: Ledger) -> None:
        self.rows: list[Row] = []
        self.excused: list[Row] = []
        self.fingerprints: set[str] = set()
        self.ended: dict[str, Verdict] = {}
        self.consensus = Consensus()
        self.triage = Triage(session, nodeid, options)
        self._session = session
        self._nodeid = nodeid
        self._options = options
        self._ledger = ledger
        self._kept = Counter(dict.fromkeys(session.options.settled, KEPT_CASES))
        self._undecided: Counter[str] = Counter()

    @property
    def undecided(self) -> str | None:
        """That not one drawn case could be decided, or that half of them do what no call tells, in words; None where
        it may be chance. Corners may be decided that compare nothing, as one of size 0.
        """
        drawn = [verdict for key, verdict in self.ended.items() if not key.endswith(f"@{LAYING}")]
        judged = [verdict for verdict in drawn if verdict not in ("skipped", "rejected")]
        past = sum(count for reason, count in self._undecided.items() if UNRECORDED in reason)
        if past >= FEWEST_PAST and 2 * past >= len(judged):
            return (
                f"{past} of its {len(judged)} drawn cases come out otherwise when PyTorch runs their recorded calls "
                "again, so the body does what no call tells: write to dual objects, and call PyTorch by autotest's "
                "`torch`"
            )
        if len(judged) < NO_CHANCE or {*judged} != {"undecidable"} or not self._undecided:
            return None
        reason, count = self._undecided.most_common(1)[0]
        return (
            f"none of its {len(judged)} drawn cases could be decided, so the test compares nothing; the commonest "
            f"reason ({count} times) is {reason}: draw others"
        )

    def avoid(self, key: str) -> None:
        """Record a case as refused at which PyTorch itself has ended another process."""
        how = self._session.options.avoided.get(key)
        if how is not None and key not in self.ended:
            self.write(key, "rejected", time.perf_counter(), Program([], [], None), [], reason=how)

    def write(
        self,
        key: str,
        verdict: Verdict,
        started: float,
        program: Program,
        divergences: Sequence[Divergence],
        unshown: Sequence[Divergence] = (),
        *,
        reason: str | None = None,
        doubts: Sequence[Doubt] = (),
        ops: Sequence[str] = (),
        dtypes: Sequence[str] = (),
        graph: Checks | None = None,
    ) -> None:
        """Record how the case of a Program ended; `unshown` are divergences that OneFlow's own harness would have
        passed.
        """
        rows = self._rows(key, program, divergences, unshown)
        self.rows += [row for row in rows if row["level"] in RED_LEVELS]
        excuse = self._session.excuse
        self.excused += [row for row in rows if row["level"] == "known" and row["reason"] == excuse]
        if self.consensus.alone:
            for divergence, row in zip(divergences, rows, strict=True):
                if row["level"] in RED_LEVELS and row["id"] not in self._session.options.settled:
                    self.triage.take(divergence, row)
        for divergence in divergences:  # also those of later stages, which the rows tell with the first
            self.fingerprints.update(divergence.fingerprints(self._session.called[0]))
        self.fingerprints.update(row["fingerprint"] for row in rows)
        self._session.counts[verdict] += 1
        if verdict == "undecidable" and reason is not None and not key.endswith(f"@{LAYING}"):
            self._undecided[reason] += 1
        self.ended[key] = verdict
        if verdict != "rejected":
            self._session.progress.case_ended()
        writer = self._session.writer
        if writer is not None:
            seconds = time.perf_counter() - started
            writer.end(
                self._nodeid,
                key,
                verdict,
                reason=reason,
                ops=ops,
                dtypes=dtypes,
                graph=None if graph is None else graph.record(),
                seconds=seconds,
                divergences=rows,
                undecidable=sorted({(doubt.op, doubt.phase, doubt.reason) for doubt in doubts}),
            )

    def _rows(
        self, key: str, program: Program, divergences: Sequence[Divergence], unshown: Sequence[Divergence]
    ) -> list[Row]:
        """The divergences of a case as the records keep them; those of all ranks, where there are several."""
        name, stage = self._session.called[0], self._session.stages[0]
        stricter = {id(divergence) for divergence in unshown}
        rows: list[tuple[Row, tuple[int, ...]]] = []
        digest = program_digest(program) if divergences else ""
        for divergence in divergences:
            row = divergence.row(name, self._nodeid, key)
            row = row if name == stage else {**row, "target": stage}  # what starts it again
            row = self._levelled(row, id(divergence) in stricter)
            row = {
                **row,
                "digest": digest,
                "message": divergence.translated(row["message"], self._session.target_info()),
            }
            if why := cause(row["message"]):
                row = {**row, "cause": why}
            if row["kind"] == "out_of_memory":
                row = {**row, "memory_limit": self._session.supervisor.memory}
            if self._session.launch.python is not None:
                row = {**row, "target_python": self._session.launch.python}
            if self._session.options.override:
                row = {**row, "override": [override.to_json() for override in self._session.options.override]}
            rows.append((self._with_evidence(divergence, row), divergence.difference.ranks))
        merged = self.consensus.merge(f"{key} end", rows)
        self.consensus.ends()
        return merged

    def _levelled(self, row: Row, stricter: bool) -> Row:
        """The row at its level: `counted` where the test only counts what is missing or not supported, or nobody knows
        whether it is there, else as `levelled`.
        """
        asked = {"missing": self._options.missing, "unsupported": self._options.unsupported}
        if row["kind"] == "unmapped" or asked.get(row["kind"]) == "count":
            return {**row, "level": "counted"}
        return levelled(row, self._session, self._ledger, stricter=stricter)

    def _with_evidence(self, divergence: Divergence, row: Row) -> Row:
        """The row with its evidence, of the first cases of each fingerprint; what is red is stored as well."""
        self._kept[row["id"]] += 1
        if self._kept[row["id"]] > KEPT_CASES:
            return row
        if row["level"] in RED_LEVELS:
            self._store(divergence, row)
        evidence = divergence.evidence(partial(value_types, self._session.reference, divergence.program))
        self._session.worst += evidence["worst"]
        return {**row, "evidence": evidence}

    def _store(self, divergence: Divergence, row: Row) -> None:
        store, worker = self._session.store, self._session.options.worker
        if store is None or divergence.program.inline is not None:
            return
        if store.save(divergence, row, self._options.rules, worker, self._kept[row["id"]]):
            self.triage.foresee_script(divergence, row, store.run)

    def message(self) -> str:
        """What a red test says: its divergences in words."""
        from reports import failure_text

        total = sum(count for verdict, count in self._session.counts.items() if verdict not in ("rejected", "skipped"))
        refused = {key for key, verdict in self.ended.items() if verdict == "rejected"}
        rows = [self._triaged(row) for row in self.rows] or self.excused
        width = self._session.options.width
        return failure_text(rows, cases=total, width=width, repros=self.triage.scripts, refused=refused)

    def replays(self) -> list[str]:
        """The commands by which the stored Programs run again, one per fingerprint."""
        rows = self.rows or self.excused
        return [*dict.fromkeys(row["replay"] for row in rows if row["replay"] == f"autotest replay {row['id']}")]

    def _triaged(self, row: Row) -> Row:
        """The row with what a closer look at its fingerprint has added to its evidence."""
        added = self.triage.evidence.get(row["fingerprint"])
        return {**row, "evidence": {**row["evidence"], **added}} if row["evidence"] and added else row


def levelled(row: Row, session: Session, ledger: Ledger, *, stricter: bool = False) -> Row:
    """A row at its level: `known` where the ledger has it for this version and device, or a mark of the test excuses
    it; `stricter` where OneFlow's own harness would have passed it. A new one has for its reason what the ledger has
    that differs in the dtype or in needs alone.
    """
    entry = ledger.find(row["fingerprint"], case_test_name(row["test"]), row["message"], row.get("present", ()))
    if entry is not None and entry.applies(session.target_info()):
        return {**row, "level": "known", "reason": entry.reason}
    if stricter and not session.options.strict:
        return {**row, "level": "stricter"}
    if session.excuse is not None:
        return {**row, "level": "known", "reason": session.excuse}
    near = ledger.nearest(row["fingerprint"])
    if near is None or not near.applies(session.target_info()):
        return row
    return {**row, "reason": f"the ledger has {near.fingerprint}: {near.reason}"}
