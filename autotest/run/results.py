"""The verdicts of one test, recorded case by case: each divergence with its level, evidence and stored Program."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from autotest.cases.digest import inputs_digest
from autotest.cases.store import KEPT_CASES, SHRUNK
from autotest.compare.divergence import Divergence, Row
from autotest.judge.consensus import Consensus
from autotest.judge.judgement import Verdict
from autotest.ledger.entries import Ledger
from autotest.options import TestOptions
from autotest.oracle.undecidable import Doubt
from autotest.run.session import Session
from reports import RED_LEVELS

if TYPE_CHECKING:
    from autotest.cases.drawer import Drawer
    from autotest.shrink.shrinker import Shrunk


class Verdicts:
    """What one test's cases have come to. `rows` are its red divergences, `excused` those that a mark of the test
    expects, `seen` the fingerprints of all, `ended` the verdicts by case key; `consensus` with whom they are agreed on.
    """

    def __init__(self, session: Session, nodeid: str, options: TestOptions, ledger: Ledger) -> None:
        self.rows: list[Row] = []
        self.excused: list[Row] = []
        self.seen: set[str] = set()
        self.ended: dict[str, Verdict] = {}
        self.consensus = Consensus()
        self._session = session
        self._nodeid = nodeid
        self._options = options
        self._ledger = ledger
        self._kept: Counter[str] = Counter()
        #: The first divergence of each red fingerprint, by id.
        self._first: dict[str, tuple[Divergence, Row]] = {}
        self._scripts: dict[str, Path] = {}
        self._minimal: dict[str, Shrunk] = {}

    def write(
        self,
        key: str,
        verdict: Verdict,
        started: float,
        divergences: Sequence[Divergence],
        unshown: Sequence[Divergence] = (),
        *,
        reason: str | None = None,
        doubts: Sequence[Doubt] = (),
        ops: Sequence[str] = (),
        dtypes: Sequence[str] = (),
        graph: dict[str, str] | None = None,
    ) -> None:
        """Record how a case ended; `unshown` are those of its divergences that OneFlow's own harness would not have
        seen.
        """
        target = self._session.options.target
        stricter = {id(divergence) for divergence in unshown}
        rows = []
        for divergence in divergences:
            row = self._levelled(divergence.row(target, self._nodeid, key), id(divergence) in stricter)
            row = {**row, "inputs": inputs_digest(divergence.program)}
            rows.append(self._told(divergence, row))
        ranks = [divergence.difference.ranks for divergence in divergences]
        rows = self.consensus.merge(f"{key} end", list(zip(rows, ranks, strict=True)))
        self.consensus.ends()
        self.rows += [row for row in rows if row["level"] in RED_LEVELS]
        excuse = self._session.excuse
        self.excused += [row for row in rows if row["level"] == "known" and row["reason"] == excuse]
        if self.consensus.alone:
            for divergence, row in zip(divergences, rows, strict=True):
                if row["level"] in RED_LEVELS:
                    self._first.setdefault(row["id"], (divergence, row))
        self.seen.update(row["fingerprint"] for row in rows)
        self._session.counts[verdict] += 1
        self.ended[key] = verdict
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
                graph=graph,
                seconds=seconds,
                divergences=rows,
                undecidable=sorted({(doubt.op, doubt.phase, doubt.reason) for doubt in doubts}),
            )

    def _levelled(self, row: Row, stricter: bool) -> Row:
        """The row, told as known where the ledger has it for this target's version and device or a mark of the test
        excuses it, as counted where the test counts what is missing, as stricter where OneFlow's own harness would not
        have seen it.
        """
        if row["kind"] == "missing" and self._options.missing == "count":
            return {**row, "level": "counted"}
        entry = self._ledger.find(row["fingerprint"])
        if entry is not None and entry.applies(self._session.target_info()):
            return {**row, "level": "known", "reason": entry.reason}
        if stricter and not self._session.options.strict:
            return {**row, "level": "stricter"}
        excuse = self._session.excuse
        return row if excuse is None else {**row, "level": "known", "reason": excuse}

    def _told(self, divergence: Divergence, row: Row) -> Row:
        """The row with its evidence, of the first cases of each fingerprint; what is new is stored as well."""
        self._kept[row["id"]] += 1
        if self._kept[row["id"]] > KEPT_CASES:
            return row
        if row["level"] in RED_LEVELS:
            self._store(divergence, row)
        evidence = divergence.evidence()
        self._session.worst += evidence["worst"]
        return {**row, "evidence": evidence}

    def _store(self, divergence: Divergence, row: Row) -> None:
        """Store a divergent case's Program, for `autotest replay`, and its proof, for `autotest accept`."""
        program, folder = divergence.program, self._session.programs
        if folder is None or program.inline is not None:
            return
        proofs = folder / "proofs"
        proofs.mkdir(parents=True, exist_ok=True)
        name = f"{row['id']}-{self._session.options.worker}-{self._kept[row['id']]}.json"
        if not (folder / name).exists():
            rules = dataclasses.asdict(self._options.rules)
            shown = divergence.shown
            program.save(folder / name, {"row": dict(row), "rules": rules, "shown": shown})
            divergence.proof.save(proofs / name, {"message": row["message"], "rules": rules, "shown": shown})
            self._script(divergence, row, folder.parent)

    def _script(self, divergence: Divergence, row: Row, run: Path) -> None:
        """Note where the script of a divergence will lie when the run has ended, if it can have one."""
        from autotest.repro import obstacle
        from reports.repros import script_path

        if obstacle(row, divergence.proof) is None:
            self._scripts[row["id"]] = script_path(run, row["id"])

    def shrink(self, drawer: Drawer, *, inline: bool) -> None:
        """Make the first divergence of each red fingerprint minimal, the worst first; tell what came of it and store
        it.
        """
        session = self._session
        if not session.options.shrink or not self._first:
            return
        from autotest.shrink.shrinker import Shrunk, shrink, worst_first

        for row in worst_first([row for _, row in self._first.values()]):
            divergence, _ = self._first[row["id"]]
            if inline:
                shrunk = Shrunk(None, "its test runs inline, where the target is not run again", 0.0, 0)
            else:
                try:
                    shrunk = shrink(
                        session.reference,
                        session.supervisor,
                        drawer,
                        self._options.rules,
                        divergence,
                        drawer.place(row["case_key"]),
                        session.shrinking,
                    )
                except Exception as error:  # the divergence is found, and must be told, whatever becomes of this
                    fault = f"shrinking {row['fingerprint']} failed: {type(error).__name__}: {error}"
                    if session.writer is not None:
                        session.writer.fault(self._nodeid, fault)
                    shrunk = Shrunk(None, f"a fault of the harness, please report it: {fault}", 0.0, 0)
            self._shrunk(row, shrunk)

    def blame(self, *, inline: bool) -> None:
        """Find out of each red fingerprint which side is wrong, on the minimal Program where there is one; tell it."""
        session = self._session
        if not session.options.blame_total or not self._first:
            return
        from autotest.oracle.attribution import Culprit, judge
        from autotest.shrink.shrinker import worst_first

        for row in worst_first([row for _, row in self._first.values()]):
            divergence, _ = self._first[row["id"]]
            shrunk = self._minimal.get(row["id"])
            if shrunk is not None and shrunk.shown is not None:
                divergence = shrunk.shown
            if inline:
                culprit = Culprit("not judged", "its test runs inline, where the target is not run again")
            else:
                rules, target = self._options.rules, session.supervisor
                try:
                    culprit = judge(
                        session.reference, target, session.options.target, rules, divergence, session.judging
                    )
                except Exception as error:  # the divergence is found, and must be told, whatever becomes of this
                    fault = f"blaming {row['fingerprint']} failed: {type(error).__name__}: {error}"
                    if session.writer is not None:
                        session.writer.fault(self._nodeid, fault)
                    culprit = Culprit("not judged", f"a fault of the harness, please report it: {fault}")
            self._evident(row, blame=culprit.record())
            if session.writer is not None:
                session.writer.blamed(self._nodeid, row["fingerprint"], culprit.record())

    def _evident(self, row: Row, **told: object) -> None:
        """Add to the evidence of a fingerprint."""
        self.rows = [
            {**shown, "evidence": {**shown["evidence"], **told}}
            if shown["fingerprint"] == row["fingerprint"] and shown["evidence"]
            else shown
            for shown in self.rows
        ]

    def _shrunk(self, row: Row, shrunk: Shrunk) -> None:
        self._minimal[row["id"]] = shrunk
        told = shrunk.record()
        self._evident(row, shrunk=told)
        if self._session.writer is not None:
            self._session.writer.shrunk(self._nodeid, row["fingerprint"], told)
        folder = self._session.programs
        if folder is not None and shrunk.program is not None:
            path = folder / f"{row['id']}-{self._session.options.worker}{SHRUNK}.json"
            if not path.exists():
                shrunk.program.save(path, {"row": dict(row), "rules": dataclasses.asdict(self._options.rules)})

    def message(self) -> str:
        """What a red test says: its divergences in words."""
        from reports import failure_text

        total = sum(self._session.counts[v] for v in ("aligned", "divergent", "undecidable", "crashed", "timed_out"))
        refused = {key for key, verdict in self.ended.items() if verdict == "rejected"}
        return failure_text(self.rows or self.excused, cases=total, repros=self._scripts, refused=refused)
