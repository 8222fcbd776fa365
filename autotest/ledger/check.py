"""Proving the ledger: a known divergence must still be there, or its entry has to go."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from autotest.compare.fingerprint import Fingerprint
from autotest.compare.kinds import DEADLY, KINDS
from autotest.errors import AutotestError
from autotest.judge.standalone import trial
from autotest.ledger.contracts import stale_contracts
from autotest.ledger.entries import Entry, LedgerError, others, read
from autotest.ledger.proof import unproved
from autotest.options.ledger import SUITES
from autotest.options.targets import launch
from autotest.workers.protocol import Target
from autotest.workers.supervisor import Supervisor
from autotest.workers.wrapped.lowered import LoweringSupervisor
from dual_object.replay.adapter import Reference, TargetInfo, load_reference
from dual_object.replay.stages import called


class StaleEntryError(AutotestError, AssertionError):
    """Known divergences no longer diverge."""


def stale_entries(
    reference: Reference,
    target: Callable[[str], Target],
    info: Callable[[], TargetInfo],
    entries: Iterable[Entry],
    seen: Iterable[str] = (),
    *,
    deadly: bool = False,
) -> list[str]:
    """A sentence for each of `entries` that no longer diverges.

    Args:
        reference: runs the stored Programs, and so does the `target` of an entry, which is given by its name.
        info: tells of the target; asked only where an entry is to be proved.
        entries: what is proved; only entries that are strict about proof and apply to this target are.
        seen: fingerprints that diverged in this run, whose entries are proved by that.
        deadly: prove also entries whose Program ends a worker, and that each needs what it says.

    Raises LedgerError for an entry whose Program cannot be read.
    """

    def run(entry: Entry) -> set[str]:
        # To find out again what a graph that raises needs would cost a process for each experiment.
        costly = entry.graph and KINDS[entry.kind].ends
        if deadly and not costly:
            return fingerprints(entry, None)
        shown = fingerprints(entry, entry.parts.said)
        gone = shown and not any(entry.covers(Fingerprint.parse(one)) for one in shown)
        return fingerprints(entry, None) if gone and not costly else shown  # to be told as it is

    def fingerprints(entry: Entry, needs: Sequence[str] | None) -> set[str]:
        program, rules = entry.proof
        whole = entry.kind == "unsupported"
        divergences = trial(
            reference,
            target(entry.target),
            program,
            rules,
            graph=entry.graph,
            whole=whole,
            configuration=entry.configuration,
            needs=needs,
        )
        return {divergence.fingerprint(entry.target) for divergence in divergences}

    asked = (entry for entry in entries if entry.kind != "batch_only" and (deadly or entry.kind not in DEADLY))
    return unproved(asked, info, seen, run, "Program")


def check(
    path: Path, target: str, timeout: float | None, python: str | None = None
) -> tuple[int, list[str], tuple[str, ...]]:
    """Replay every entry of a ledger: how many there are, which are stale, and what is wrong with the file.

    Raises LedgerError where all of its entries are about other targets.
    """

    sys.path[:0] = [str(path.absolute().parent), os.getcwd()]  # as pytest does: custom ops may live beside the tests
    launched = launch(target, python)
    supervisor = LoweringSupervisor(launched, timeout, reference=load_reference)
    functions = Supervisor(launched, timeout)
    try:
        names = called(target, supervisor.info)
        ledger = read(path, *names)
        if not ledger.entries and not ledger.problems and (rest := others(path, names[0])):
            counts = ", ".join(f"{count} of {name}" for name, count in rest.items())
            raise LedgerError(f"{path} has no entry of {names[0]}, but {counts}: name one of these [--target]")
        entries = list(ledger.entries.values())
        programs = [entry for entry in entries if not entry.contract]
        contracts = [entry for entry in entries if entry.contract]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # told when the tests ran
            stale = stale_entries(load_reference(), supervisor.stage, supervisor.info, programs, deadly=True)
        stale += stale_contracts(lambda: functions, supervisor.info, contracts)
        return len(entries), stale, (*ledger.problems, *orphans(path, entries))
    finally:
        supervisor.close()
        functions.close()


def orphans(path: Path, entries: Iterable[Entry]) -> list[str]:
    """A sentence for each entry whose tests are neither beside the ledger nor in the suites: no test shows it."""
    named = [(entry, [_named(test) for test in entry.tests]) for entry in entries]
    wanted = {file for _, tests in named for file, _ in tests}
    words: dict[str, set[str]] = {}
    for folder in (path.absolute().parent, SUITES):
        for found in folder.rglob("*.py"):
            if found.name in wanted:
                text = found.read_text("utf-8", errors="replace")
                words.setdefault(found.name, set()).update(re.findall(r"\w+", text))
    told = []
    for entry, tests in named:
        if any(function in words.get(file, ()) for file, function in tests):
            continue
        file, function = tests[0]
        why = f"{file} has no {function}" if file in words else f"no file here holds its test {entry.tests[0]}"
        told.append(f"{path}: {entry.fingerprint} matches nothing, for {why}: remove the entry")
    return told


def _named(test: str) -> tuple[str, str]:
    """A test's file and function: `test_a.py` and `test_b` of `test_a.py::TestC::test_b[d]`."""
    file, _, rest = test.partition("::")
    return file, rest.partition("[")[0].rpartition("::")[2]
