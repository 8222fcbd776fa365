"""`autotest census`: what is known of each op of PyTorch's tables on one target, from runs, ledgers and tables."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from packaging.specifiers import SpecifierSet

from autotest.campaign.sources import CALLS
from autotest.census.owners import ENTRY, owner_of
from autotest.commands.tracing.corpus import read as read_calls
from autotest.compare.kinds import REFUSALS
from autotest.errors import UsageError
from autotest.expressions import parse
from autotest.ledger.entries import Entry, version_of
from autotest.ledger.entries import read as read_ledger
from dual_object.adapters.dialect import Row
from dual_object.adapters.torch.tables import TableOp
from reports import read_run, summarize
from reports.tallies.census import LACKING, STATUSES, CensusTally, Found

_METHODS = "Tensor."


@dataclass(frozen=True)
class Op:
    """An op of a table on the target.

    Attributes:
        status: one of STATUSES, the worst that its cases or the ledgers show; `decided` says which of them, or that the
            target's own table has no row for it, or nothing.
        found: what its cases have come to; `sources` in how many tests of which source.
        calls: how many calls of the corpus that comes with op-autotest call it.
        known: fingerprints of the ledgers.
    """

    table: str
    name: str
    status: str
    decided: str
    found: Found
    sources: Mapping[str, int]
    calls: int
    known: tuple[str, ...]


@dataclass(frozen=True)
class Census:
    """All of it.

    Attributes:
        versions: of the target and of the reference, as the runs tell them; `tests`, `cases` of these runs.
        ops: those of PyTorch's tables, in PyTorch's order.
        mapped: the rows of the target's own table; empty for a target that has none.
        registry: the op types that the target has registered, and whether they ran.
        names: the ops that both sides have, as tests type them, and whether a case called them.
    """

    target: str
    versions: Mapping[str, str]
    tests: int
    cases: int
    ops: Sequence[Op]
    mapped: Sequence[Op] = ()
    registry: Mapping[str, bool] = field(default_factory=dict)
    names: Mapping[str, bool] = field(default_factory=dict)

    def counts(self, ops: Iterable[Op]) -> dict[str, int]:
        """How many ops have each status."""
        held = Counter(op.status for op in ops)
        return {status: held[status] for status in STATUSES}

    def of(self, table: str) -> list[Op]:
        """The ops of one table."""
        return [op for op in self.ops if op.table == table]


def take_census(
    runs: Sequence[Path], ledgers: Sequence[Path], ops: Sequence[TableOp], tables: Mapping[str, Mapping[str, Row]]
) -> Census:
    """The census of run folders of one target; `tables` are those of targets that have one.

    Raises ReportError for a folder that is none, UsageError for runs of several targets, or without a case.
    """
    tally = CensusTally(owner_of)
    summaries = []
    for folder in runs:
        run = read_run(folder)
        summaries.append(summarize(run))
        tally.take(run)
    targets = sorted({summary.target for summary in summaries})
    if len(targets) > 1:
        raise UsageError(f"the runs are of {', '.join(targets)}, but should be of one target [REPORT]")
    target = targets[0]
    cases = sum(summary.cases for summary in summaries)
    if not cases:
        raise UsageError(f"no case has run on {target} there, so nothing is known of its ops: run the tests again")
    environment = {name: version for summary in reversed(summaries) for name, version in summary.environment.items()}
    version = version_of(target, environment)
    ledger = [entry for path in ledgers for entry in read_ledger(path, target).entries.values()]
    entries = [entry for entry in ledger if SpecifierSet(entry.versions, prereleases=True).contains(version)]
    counting = _Counting(tally, entries, ops, tables.get(target, {}))
    registry = {name for summary in summaries for name in summary.coverage.registry}
    touched = {name for summary in summaries for name in summary.coverage.touched}
    names = {name for summary in summaries for name in summary.coverage.names}
    return Census(
        target,
        {target: version, "torch": version_of("torch", environment)},
        sum(summary.tests for summary in summaries),
        cases,
        [counting.op(op) for op in ops],
        [counting.row(row) for row in counting.rows.values()],
        {name: name in touched for name in sorted(registry)},
        {name: name in tally.found for name in sorted(names)},
    )


class _Counting:
    """Finds what is about an op. Programs call ops by the last part of their paths, which some have in common: then
    what is about the one is told by the path that a test spells.
    """

    def __init__(
        self, tally: CensusTally, entries: Sequence[Entry], ops: Sequence[TableOp], rows: Mapping[str, Row]
    ) -> None:
        self.rows = rows
        self._tally = tally
        self._known: dict[str, list[Entry]] = defaultdict(list)
        for entry in entries:
            self._known[entry.parts.op].append(entry)
        self._by_entry: dict[str, list[tuple[str, Found]]] = defaultdict(list)
        for name, owners in tally.found.items():
            for owner, found in owners.items():
                if owner.source == ENTRY:
                    self._by_entry[owner.path].append((name, found))
        self._paths: dict[str, set[str]] = defaultdict(set)
        #: By path the entry that stands for the op, whatever its form: the one that is no variant, else the first.
        self._whole: dict[str, str] = {}
        for op in sorted(ops, key=lambda op: op.variant):
            self._whole.setdefault(op.path, op.name)
        for op in ops:
            self._paths[op.path.rpartition(".")[2]].add(op.path)
        self._calls = Counter(parse(call).op for call in read_calls([CALLS]).calls())

    def op(self, op: TableOp) -> Op:
        """What is known of an op of PyTorch's tables."""
        # An alias that is an entry itself is counted there.
        names = {name for name in op.names if self._paths[name] <= {op.path}} | {op.path.rpartition(".")[2]}
        found, sources = Found(), Counter[str]()
        self._add(found, sources, ENTRY, self._own(op, names))
        whole = self._whole[op.path] == op.name
        if whole:
            for name in names:
                for owner, theirs in self._tally.found.get(name, {}).items():
                    if owner.source != ENTRY and self._about(owner.path, op.path, name):
                        self._add(found, sources, owner.source, [theirs])
        known = [
            entry for name in sorted(names) for entry in self._known.get(name, ()) if self._covers(op, name, entry)
        ]
        status, decided = self._status(found, known, op.path)
        calls = sum(self._calls[name] for name in names) if whole else 0
        prints = tuple(sorted({entry.fingerprint for entry in known}))
        return Op(op.table, op.name, status, decided, found, dict(sources), calls, prints)

    def row(self, row: Row) -> Op:
        """What is known of a row of the target's table."""
        name = row.path.rpartition(".")[2]
        found, sources = Found(), Counter[str]()
        for owner, theirs in self._tally.found.get(name, {}).items():
            if self._about(owner.path, row.path.removeprefix(_METHODS), name):
                self._add(found, sources, owner.source, [theirs])
        known = self._known.get(name, [])
        status, decided = self._status(found, known, row.path)
        prints = tuple(sorted(entry.fingerprint for entry in known))
        return Op(row.kind, row.path, status, decided, found, dict(sources), self._calls[name], prints)

    def _own(self, op: TableOp, names: Collection[str]) -> list[Found]:
        """What the tests of the entry itself have found: of its names, or, where the recording knows it by another one,
        of all that they call.
        """
        held = self._by_entry.get(op.name, [])
        return [found for name, found in held if name in names] or [found for _, found in held]

    def _add(self, found: Found, sources: Counter[str], source: str, others: Iterable[Found]) -> None:
        tests: set[str] = set()
        for other in others:
            found.add(other)
            tests |= other.tests
        if tests:
            sources[source] += len(tests)

    def _about(self, spelled: str, path: str, name: str) -> bool:
        """Whether a test that spells this path, or none, is about the op at `path`, of those that end in `name`."""
        if len(self._paths[name]) < 2:
            return True
        if "." in spelled.removeprefix(_METHODS):
            return spelled == path
        return "." not in path

    def _covers(self, op: TableOp, name: str, entry: Entry) -> bool:
        for test in entry.tests:
            owner = owner_of(test)
            if owner.source == ENTRY:
                if owner.path == op.name:
                    return True
            elif self._whole[op.path] == op.name and self._about(owner.path, op.path, name):
                return True
        return False

    def _status(self, found: Found, known: Sequence[Entry], path: str) -> tuple[str, str]:
        """The status, and by what it was decided."""
        kinds = {entry.kind for entry in known}
        shown = "wrong" if kinds - REFUSALS else "refused" if kinds - {*LACKING} else "lacking" if kinds else "unknown"
        status = min(found.status, shown, key=STATUSES.index)
        if status != "unknown":
            return status, "cases" if status == found.status else "ledger"
        if self.rows and not {path, _METHODS + path} & self.rows.keys():
            return "lacking", "table"
        return "unknown", ""


__all__ = ["Census", "Op", "take_census"]
