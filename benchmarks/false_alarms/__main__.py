"""`python -m benchmarks.false_alarms`: PyTorch against itself computing otherwise: each red is a false alarm."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

from benchmarks.false_alarms.explained import EXPLAINED
from benchmarks.false_alarms.judging import Score, complaints, score, table
from benchmarks.false_alarms.remembering import remembering
from benchmarks.false_alarms.variants import REMEMBERING, VARIABLE, VARIANTS
from benchmarks.running import ROOT, run

#: In full, at least so many cases per variant and kind of inputs.
CASES = 20_000
#: The suites have more tests than this, and most of them run as many cases as they are told to.
TESTS = 3_000
#: A quick run takes these tests alone, which sum much or choose among elements, each with so many cases.
QUICK_PATHS = [
    "suites/test_normalization.py::test_op",
    "suites/test_matmul.py::test_op",
    *(
        f"suites/test_reduction.py::test_op[torch.{name}]"
        for name in ("sum", "mean", "prod", "var", "std", "logsumexp", "amax", "argmax", "median", "quantile")
    ),
    *(f"suites/test_recurrent.py::test_op[torch.nn.{name}]" for name in ("LSTM", "GRU")),
]
QUICK_CASES = 3
#: The kinds of inputs that false alarms are counted with.
INPUTS = ("standard", "edge")


def full_paths() -> list[str]:
    """The suites, but those of global tensors: PyTorch has none."""
    files = sorted(path.relative_to(ROOT) for path in ROOT.glob("suites/**/test_*.py"))
    return [str(file) for file in files if "global" not in file.parts]


def main() -> int:
    """Exit status 0: false alarms are as rare as they should be, and each is explained; 1: not so."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.false_alarms", description=__doc__)
    names = [variant.name for variant in VARIANTS]
    parser.add_argument(
        "--quick",
        action="store_true",
        help=f"a few tests of the suites, {QUICK_CASES} cases of each, standard inputs",
    )
    parser.add_argument("--variant", action="append", choices=names, help="default: all of them")
    parser.add_argument("--inputs", action="append", help="as for `autotest run`; default: standard, and edge in full")
    parser.add_argument("--cases", type=int, metavar="N", help=f"cases per test; default: for {CASES} in all")
    parser.add_argument("--report", type=Path, help="folder that keeps the runs' reports")
    parser.add_argument("-n", default="auto", metavar="N|auto", help="processes, as for `autotest run`")
    parser.add_argument("--markdown", action="store_true", help="print the table in Markdown")
    parser.add_argument("paths", nargs="*", help="tests; default: the suites")
    arguments = parser.parse_args()
    cases = arguments.cases or (QUICK_CASES if arguments.quick else math.ceil(CASES / TESTS))
    paths = arguments.paths or (QUICK_PATHS if arguments.quick else full_paths())
    scores, wrong = list[Score](), list[str]()
    for variant in VARIANTS:
        if arguments.variant and variant.name not in arguments.variant:
            continue
        for inputs in arguments.inputs or (INPUTS[:1] if arguments.quick else INPUTS):
            planted = {"AUTOTEST_FAULT": "benchmarks.false_alarms.variants:plant", VARIABLE: variant.name}
            report = arguments.report and arguments.report / f"{variant.name}-{inputs}"
            options = ("--target", "torch", "-n", arguments.n, "--cases", str(cases), "--inputs", inputs)
            # Laid-out cases are the same with other inputs.
            laid_out = inputs == INPUTS[0] and not arguments.quick
            if variant.name == REMEMBERING:
                with remembering(paths, inputs, cases) as folder:
                    outcome = run(paths, planted, *options, report=report, folder_with_memory=folder, laid_out=laid_out)
            else:
                outcome = run(paths, planted, *options, report=report, laid_out=laid_out)
            result = score(variant, inputs, outcome)
            print(
                f"{variant.name} {variant.does}; {inputs} inputs: {result.count} false alarms in {result.cases} cases, "
                f"{result.lawful} lawful differences, {outcome.seconds:.0f} s",
                flush=True,
            )
            for red in result.alarms:
                reason = EXPLAINED.get((variant.name, red.fingerprint), "unexplained")
                print(f"  {red.count} x {red.fingerprint}: {reason}", flush=True)
            scores.append(result)
            wrong += complaints(result, EXPLAINED)
    print("", *table(scores, markdown=arguments.markdown), "", *wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
