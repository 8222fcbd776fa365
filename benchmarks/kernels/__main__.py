"""How often the kernel judge is right on the bank, beside the two rules that its peers judge by: `make kernels`.

A wrong kernel counts where it is refused, and once more where a finding names its own fault; a sound one where it is
accepted. `--only NAME` (repeatable) and `--every N` take a part of the bank.
"""

from __future__ import annotations

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import click

from autotest.errors import AutotestError
from autotest.kernels.findings import Verdict
from autotest.kernels.judge import Kernel
from autotest.kernels.questions import Asking
from autotest.kernels.running import judge_of
from benchmarks.kernels.entries import Entry, entries

#: Of the bank's wrong kernels so many should be refused for their own fault, and of its sound ones accepted.
OWN_FAULT, SOUND = 0.97, 1.0
#: Seconds that one question may take: what hangs, hangs.
TIMEOUT = 10.0
MEMORY = 2 << 30


@dataclass(frozen=True)
class Judged:
    """A kernel of the bank, and what was made of it."""

    entry: Entry
    verdict: Verdict | None
    error: str
    seconds: float

    @property
    def right(self) -> bool:
        """Whether a sound one was accepted, or a wrong one refused."""
        return self.verdict is not None and self.verdict.accepted == self.entry.sound

    @property
    def named(self) -> bool:
        """Whether a wrong one was refused for its own fault."""
        found = () if self.verdict is None else self.verdict.findings
        return self.entry.category in {finding.category for finding in found}

    def line(self) -> str:
        """What is said of it."""
        entry = self.entry
        mark = "ok" if self.right and (entry.sound or self.named) else "other fault" if self.right else "MISSED"
        findings = () if self.verdict is None else self.verdict.findings
        found = self.error or ", ".join(finding.category for finding in findings) or "-"
        meant = "sound" if entry.sound else entry.category
        return f"{mark:<11} {entry.name} {entry.like} {meant}: {found} ({self.seconds:.1f} s)"


def judged(entry: Entry) -> Judged:
    """Judge one kernel, as somebody who types `autotest kernel` with the domain that it claims."""
    started = time.monotonic()
    path = entry.like.removeprefix("torch.")
    dtypes = tuple(entry.domain.get("dtypes", ()))
    verdict, error = None, ""
    try:
        judge = judge_of(Asking(path, dtypes, gradients=entry.domain.get("gradients", True)), TIMEOUT, MEMORY)
        verdict = judge.judge(Kernel(entry.path, entry.like.rpartition(".")[2]))
    except AutotestError as failed:
        error = str(failed).partition("\n")[0]
    return Judged(entry, verdict, error, time.monotonic() - started)


def table(results: Sequence[Judged]) -> str:
    """By category how many there are, are refused, and for their own fault."""
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    for one in results:
        row = rows["sound" if one.entry.sound else one.entry.category]
        row["all"] += 1
        row["right"] += one.right
        row["named"] += one.named
    lines = [f"{'category':<16} {'kernels':>8} {'right':>8} {'own fault':>10}"]
    for name, row in sorted(rows.items(), key=lambda item: (item[0] == "sound", item[0])):
        named = "" if name == "sound" else str(row["named"])
        lines.append(f"{name:<16} {row['all']:>8} {row['right']:>8} {named:>10}")
    return "\n".join(lines)


@click.command()
@click.option("--only", multiple=True, metavar="NAME", help="Judge these alone.")
@click.option("--sound", is_flag=True, help="Judge the sound ones alone.")
@click.option("--every", default=1, metavar="N", help="Judge one in so many.")
def main(only: tuple[str, ...], sound: bool, every: int) -> None:
    """Judge the bank; ends with 1 where fewer are right than should be."""
    chosen = [entry for entry in entries() if (not only or entry.name in only) and (entry.sound or not sound)][::every]
    chosen.sort(key=lambda entry: (entry.like, sorted(entry.domain)))
    results = []
    for entry in chosen:
        results.append(judged(entry))
        print(results[-1].line(), flush=True)
    wrong = [one for one in results if not one.entry.sound]
    sane = [one for one in results if one.entry.sound]
    print(f"\n{table(results)}\n")
    refused, own = sum(one.right for one in wrong), sum(one.named for one in wrong)
    accepted = sum(one.right for one in sane)
    median = sorted(one.seconds for one in results)[len(results) // 2]
    print(
        f"{refused} of {len(wrong)} wrong kernels refused, {own} for their own fault; "
        f"{accepted} of {len(sane)} sound ones accepted; a verdict takes {median:.1f} s (median)"
    )
    sys.exit(int(own < OWN_FAULT * len(wrong) or accepted < SOUND * len(sane)))


if __name__ == "__main__":
    main()
