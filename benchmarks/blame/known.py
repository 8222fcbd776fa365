"""OneFlow's known divergences, judged: people have looked at each, and it is OneFlow's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from autotest.budget import Budget
from autotest.compare.fingerprint import Fingerprint
from autotest.compare.kinds import DEADLY, NUMBERS
from autotest.judge.standalone import trial
from autotest.ledger.entries import Entry, read
from autotest.oracle.attribution import attribute
from autotest.workers.supervisor import Supervisor
from benchmarks.blame.judging import Answer
from dual_object.adapters.torch.adapter import Adapter

LEDGER = Path("suites/known_divergences.toml")


def judged(most: int, group: str) -> Iterator[Answer]:
    """Verdicts on entries taken evenly from the whole ledger, those about numbers first."""
    entries = [
        entry
        for entry in read(LEDGER, "oneflow").entries.values()
        if entry.strict == "proof"
        and entry.kind not in (*DEADLY, "batch_only", "random")
        and not entry.general
        and not entry.contract
    ]
    # Of what is not about numbers there is less to find out.
    numbers = [entry for entry in entries if entry.kind in NUMBERS]
    others = [entry for entry in entries if entry.kind not in NUMBERS]
    chosen = [*_evenly(numbers, most - most // 3), *_evenly(others, most // 3)]
    reference, supervisor = Adapter(), Supervisor("oneflow", 60.0)
    try:
        for entry in chosen:
            program, rules = entry.proof
            divergences = trial(reference, supervisor, program, rules, graph=entry.graph)
            for divergence in divergences:
                if not entry.covers(Fingerprint.parse(divergence.fingerprint("oneflow"))):
                    continue
                attribution = attribute(reference, supervisor, "oneflow", rules, divergence, Budget(60.0, 20.0))
                yield Answer(group, entry.reason, entry.fingerprint, attribution.verdict, attribution.reason)
    finally:
        supervisor.close()


def _evenly(entries: list[Entry], most: int) -> list[Entry]:
    step = max(1, len(entries) // most)
    return entries[::step][:most]
