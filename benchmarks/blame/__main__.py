"""`python -m benchmarks.blame`: how often the verdict on which side is wrong is right.

Faults are planted in PyTorch once as the target and once as the reference, ill-conditioned programs run against a
lawful variant of PyTorch, ops are made nondeterministic, and OneFlow's known divergences are judged.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.blame.judging import RIGHT, UNDECIDABLE, Answer, complaints, table, wrong
from benchmarks.blame.known import judged
from benchmarks.blame.planting import SIDE, VARIABLE, fits
from benchmarks.false_alarms.variants import VARIABLE as VARIANT
from benchmarks.mutation.__main__ import TESTS, quick
from benchmarks.mutation.fault import Fault
from benchmarks.mutation.judging import waves
from benchmarks.mutation.table import FAULTS
from benchmarks.running import Outcome, run
from reports import read_run, resolve_run

HERE = "benchmarks/blame"
PLANTED = ("target", "reference")
#: Cases per test: most faults show in the first ones.
CASES, QUICK_CASES = 8, 4
#: A quick run plants one of so many faults that the mutation bench's does.
QUICK_STEP = 4
#: So many known divergences are judged.
KNOWN, QUICK_KNOWN = 24, 6


def blame(paths: Sequence[str], environment: dict[str, str], arguments: argparse.Namespace, *options: str) -> Outcome:
    """Run tests against PyTorch itself, with seconds enough for every verdict."""
    asked = ("--target", "torch", "-n", arguments.n, "--blame-total", "1000", *options)
    return run(paths, environment, *asked, "--", "-p", "benchmarks.blame.planting", "-W", "ignore")


def planted(side: str, faults: Sequence[Fault], cases: int, arguments: argparse.Namespace) -> Iterator[Answer]:
    """The verdicts on faults of one side, one per fingerprint of each fault's own test."""
    for wave in waves(faults):
        environment = {
            "AUTOTEST_FAULT": "benchmarks.blame.planting:plant",
            VARIABLE: ",".join(fault.id for fault in wave),
            SIDE: side,
        }
        outcome = blame([f"{TESTS}::{fault.test}" for fault in wave], environment, arguments, "--cases", str(cases))
        for fault in wave:
            own = [red for red in outcome.reds if red.test == fault.test]
            if not own:
                print(f"{side}: {fault.id} does not show in {cases} cases", flush=True)
            for red in own:
                yield Answer(side, fault.id, red.fingerprint, red.blame, red.reason)


def ill_conditioned(arguments: argparse.Namespace) -> Iterator[Answer]:
    """The verdicts on programs that no float32 computes well: one per program, the worst where it has several."""
    environment = {
        "AUTOTEST_FAULT": "benchmarks.false_alarms.variants:plant",
        VARIANT: "float64",
        SIDE: "none",
    }
    asked = ("--target", "torch", "-n", arguments.n, "--blame-total", "1000")
    tests = [f"{HERE}/ill_conditioned.py"]
    with tempfile.TemporaryDirectory(prefix="autotest-bench-") as folder:
        outcome = run(tests, environment, *asked, "--", "-W", "ignore", report=Path(folder))
        ends = [line for _, line in read_run(resolve_run(Path(folder))).lines() if isinstance(line, dict)]
    verdicts = {end["test"].rpartition("::")[2]: end for end in ends if end["type"] == "end"}
    group = "ill_conditioned"
    for test, end in verdicts.items():
        reds = [red for red in outcome.reds if red.test == test]
        reds.sort(key=lambda red: red.blame in RIGHT[group])
        if reds:
            yield Answer(group, test, reds[0].fingerprint, reds[0].blame, reds[0].reason)
        elif end["verdict"] == UNDECIDABLE:
            yield Answer(group, test, UNDECIDABLE, UNDECIDABLE, end["reason"])
        else:
            yield Answer(group, test, "nowhere", end["verdict"], "both sides give the same")


def nondeterministic(arguments: argparse.Namespace) -> Iterator[Answer]:
    """The verdicts on ops that give another result at each call: one per fingerprint."""
    environment = {"AUTOTEST_FAULT": "benchmarks.blame.noise:plant"}
    asked = ("--target", "torch", "-n", arguments.n, "--blame-total", "1000")
    outcome = run([f"{HERE}/noisy_ops.py"], environment, *asked, "--", "-W", "ignore")
    for red in outcome.reds:
        yield Answer("nondeterministic", red.test, red.fingerprint, red.blame, red.reason)


def main() -> int:
    """Exit status 0: enough of each class is right; 1: not so."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.blame", description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"few faults, {QUICK_CASES} cases a test")
    parser.add_argument("-k", metavar="CLASS", action="append", choices=tuple(RIGHT), help="this class alone")
    parser.add_argument("-n", default="auto", metavar="N|auto", help="processes, as for `autotest run`")
    parser.add_argument("--markdown", action="store_true", help="print the table in Markdown")
    parser.add_argument("--verbose", action="store_true", help="print every verdict")
    arguments = parser.parse_args()
    groups = arguments.k or list(RIGHT)
    faults = [fault for fault in FAULTS if fits(fault)]
    faults = quick(faults)[::QUICK_STEP] if arguments.quick else faults
    cases = QUICK_CASES if arguments.quick else CASES
    answers: list[Answer] = []
    for group in groups:
        if group in PLANTED:
            own = list(planted(group, faults, cases, arguments))
        elif group == "ill_conditioned":
            own = list(ill_conditioned(arguments))
        elif group == "nondeterministic":
            own = list(nondeterministic(arguments))
        else:
            own = list(judged(QUICK_KNOWN if arguments.quick else KNOWN, group))
        answers += own
        print(f"{group}: {sum(answer.right for answer in own)} of {len(own)} right", flush=True)
        if arguments.verbose:
            print(
                *(f"  {answer.planted} [{answer.where}] {answer.said}: {answer.reason}" for answer in own),
                sep="\n",
                flush=True,
            )
    print("", *table(answers, markdown=arguments.markdown), "", *wrong(answers), sep="\n")
    red = list(complaints(answers, groups))
    print("", *red, sep="\n")
    return 1 if red else 0


if __name__ == "__main__":
    sys.exit(main())
