"""`python -m benchmarks.mutation`: plants faults in OneFlow and counts how many ordinary tests notice."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.mutation.fault import CATEGORIES, Fault
from benchmarks.mutation.judging import Verdict, complaints, survivors, table, verdict, waves
from benchmarks.mutation.planting import VARIABLE
from benchmarks.mutation.repros import Repro, repros, summary_lines
from benchmarks.mutation.repros import complaints as unreproduced
from benchmarks.mutation.table import FAULTS
from benchmarks.running import run

TESTS = "benchmarks/mutation/naive_ops.py"
#: What a run whose repros are wanted takes its time for.
SHRINKING = ("--shrink", "4", "--shrink-total", "3600")
#: So many faults of each category are planted in a quick run.
QUICK = 2


def quick(faults: Sequence[Fault]) -> list[Fault]:
    """The first faults of each category whose ops are still free: one wave, and one of trainings."""
    chosen: dict[str, Fault] = {}
    for category in CATEGORIES:
        free = [fault for fault in faults if fault.category == category and fault.op not in chosen]
        chosen |= {fault.op: fault for fault in free[:QUICK]}
    return list(chosen.values())


def measure(
    faults: Sequence[Fault], options: Sequence[str], *, verbose: bool, scripts: bool
) -> tuple[list[Verdict], list[Repro]]:
    """Run the ops' tests as they are, then with each wave of faults; in the order of the faults. With `scripts` each
    killed fault's repro is run, too.
    """
    tests = [f"{TESTS}::{name}" for name in dict.fromkeys(fault.test for fault in faults)]
    clean = run(tests, {}, *options)
    print(f"no fault planted: {clean.cases} cases, {len(clean.reds)} divergences, {clean.seconds:.0f} s", flush=True)
    by_id: dict[str, Verdict] = {}
    scripts_run: list[Repro] = []
    for number, wave in enumerate(waves(faults), 1):
        tests = [f"{TESTS}::{fault.test}" for fault in wave]
        planted = {"AUTOTEST_FAULT": "benchmarks.mutation.planting:plant", VARIABLE: ",".join(f.id for f in wave)}
        with tempfile.TemporaryDirectory(prefix="autotest-bench-") as report:
            faulty = run(tests, planted, *options, *(SHRINKING if scripts else ()), report=Path(report))
            verdicts = {fault.id: verdict(fault, clean, faulty) for fault in wave}
            if scripts:
                scripts_run += repros(list(verdicts.values()), Path(report))
        by_id |= verdicts
        killed = sum(result.killer is not None for result in verdicts.values())
        print(f"wave {number}: {killed} of {len(wave)} faults killed, {faulty.seconds:.0f} s", flush=True)
        for name in faulty.failed:
            print(f"  {name} failed without a divergence")
        if verbose:
            for result in verdicts.values():
                print(f"  {result.fault.id}: {result.killer.fingerprint if result.killer else 'survives'}", flush=True)
    return [by_id[fault.id] for fault in faults], scripts_run


def asked(fault: Fault, wanted: Sequence[str]) -> bool:
    """Whether a fault is among those that were asked for, by category or part of an id."""
    return any(name == fault.category or name in fault.id for name in wanted)


def main() -> int:
    """Exit status 0: enough faults are killed, and every survivor has a reason; 1: not so."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutation", description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"plant {QUICK} faults of each category")
    parser.add_argument(
        "-k",
        metavar="ID",
        action="append",
        help="plant only faults of the category ID or whose id contains it; may be repeated; no bar is held then",
    )
    parser.add_argument("--inputs", help="as for `autotest run`; reasons and bar are for its default")
    parser.add_argument("-n", default="auto", metavar="N|auto", help="processes, as for `autotest run`")
    parser.add_argument("--repros", action="store_true", help="run the repro of each killed fault, with it and without")
    parser.add_argument("--markdown", action="store_true", help="print the table in Markdown")
    parser.add_argument("--verbose", action="store_true", help="print what kills each fault")
    arguments = parser.parse_args()
    faults = [fault for fault in FAULTS if arguments.k is None or asked(fault, arguments.k)]
    if not faults:
        parser.error(f"ID={', '.join(arguments.k)}, but should be a category or part of a fault's id [-k]")
    if arguments.quick:
        faults = quick(faults)
    options = ["-n", arguments.n, *(("--inputs", arguments.inputs) if arguments.inputs else ())]
    verdicts, scripts_run = measure(faults, options, verbose=arguments.verbose, scripts=arguments.repros)
    print("", *table(verdicts, markdown=arguments.markdown), "", sep="\n")
    print(*survivors(verdicts), sep="\n")
    unfaithful = list(unreproduced(scripts_run))
    if arguments.repros:
        print(*summary_lines(scripts_run), *unfaithful, sep="\n")
    if arguments.k is not None or arguments.inputs not in (None, "standard"):
        return 0
    wrong = list(complaints(verdicts))
    print(*wrong, sep="\n")
    return 1 if wrong or unfaithful else 0


if __name__ == "__main__":
    sys.exit(main())
