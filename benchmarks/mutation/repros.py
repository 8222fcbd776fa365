"""Repros of killed faults: each script stands with its fault planted, and is gone without it."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from autotest.cases.store import Store
from autotest.repro.running import EACH
from autotest.repro.verifying import NOT_REPRODUCED, words
from autotest.repro.writing import attempts
from benchmarks.mutation.fault import Fault
from benchmarks.mutation.judging import Verdict
from benchmarks.running import ROOT, Red
from reports import Summary, read_run, summarize
from reports.findings.finding import findings
from reports.folders.repros import VERIFIED
from reports.folders.runs import resolve_run

#: What the median shrunk Program may have.
MOST_CALLS, MOST_ELEMENTS = 2, 8
#: So many divergences that kill one fault are tried.
MOST_KILLERS = 4
#: So many scripts run at a time.
TOGETHER = 2


@dataclass(frozen=True)
class Repro:
    """The repro of a killed fault: what its script says with the fault and without it, and how much there is to read:
    calls and elements of the least stored Program.
    """

    fault: Fault
    planted: str
    clean: str
    calls: int
    elements: int

    @property
    def right(self) -> bool:
        """Whether it tells the fault from none."""
        return self.planted == VERIFIED and self.clean == NOT_REPRODUCED


def repros(verdicts: Sequence[Verdict], report: Path) -> list[Repro]:
    """Write and run the repro of each killed fault of a wave, whose run's report is the folder `report`."""
    run = resolve_run(report)
    summary = summarize(read_run(run))
    with ThreadPoolExecutor(TOGETHER) as pool:
        return list(
            pool.map(lambda result: _best(result, run, summary), (result for result in verdicts if result.killers))
        )


def _best(result: Verdict, run: Path, summary: Summary) -> Repro:
    """That of the first killer which is right: among the killers may be what OneFlow itself shows in some runs only."""
    made: list[Repro] = []
    for killer in result.killers[:MOST_KILLERS]:
        made.append(_repro(result.fault, killer, run, summary))
        if made[-1].right:
            return made[-1]
    return made[0]


def _repro(fault: Fault, killer: Red, run: Path, summary: Summary) -> Repro:
    """As a run would choose its script: the first that stands, from the least Program on."""
    [finding] = (f for f in findings(summary.all_divergences) if f.fingerprint == killer.fingerprint)
    planted, clean = "no script", "no script"
    for written in attempts(run, finding, summary):
        if isinstance(written, str):
            planted = written
            break
        planted = _words(["-m", "benchmarks.mutation.planting", fault.id, str(written.script)])
        clean = _words([str(written.script)])
        if planted != NOT_REPRODUCED:
            break
    stored = Store(run).programs(finding.first.id)
    calls, elements = stored[0].size if stored else (0, 0)
    return Repro(fault, planted, clean, calls, elements)


def _words(arguments: Sequence[str]) -> str:
    command = [sys.executable, *arguments]
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter
            command,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=EACH,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it did not end within {EACH:g} s"
    return words(done.returncode, done.stdout)


def summary_lines(repros: Sequence[Repro]) -> Iterator[str]:
    """What the repros come to, in lines."""
    right = sum(repro.right for repro in repros)
    calls, elements = _medians(repros)
    yield f"repros: {right} of {len(repros)} stand with the fault and are gone without it"
    yield f"least programs: {calls:g} calls, {elements:g} elements (medians)"


def complaints(repros: Sequence[Repro]) -> Iterator[str]:
    """What makes the bench red, in sentences."""
    for repro in repros:
        if not repro.right:
            yield f"{repro.fault.id}: its repro is {repro.planted!r} with the fault and {repro.clean!r} without it"
    calls, elements = _medians(repros)
    if calls > MOST_CALLS or elements > MOST_ELEMENTS:
        yield (
            f"median least program has calls={calls:g}, elements={elements:g}, but should have at most "
            f"{MOST_CALLS} and {MOST_ELEMENTS}"
        )


def _medians(repros: Sequence[Repro]) -> tuple[float, float]:
    if not repros:
        return 0, 0
    return statistics.median(repro.calls for repro in repros), statistics.median(repro.elements for repro in repros)
