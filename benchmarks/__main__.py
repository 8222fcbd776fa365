"""`python -m benchmarks [NAME ...]`: speed as ratios measured side by side in one run, against the bars they should
keep.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from statistics import median

from benchmarks.measure import bare, cpu_seconds, drop_in, harness, ratios, upstream
from benchmarks.rendering import great_run

#: name: (test body, bare kind, bar, cases of the harness, bare cases)
CASES = {
    "eager": ("test_eager", "eager", 2.5, (200, 2200), (200, 2200)),
    "graph none": ("test_graph_none", "graph", 0.6, (40, 240), (20, 120)),
    "graph share": ("test_graph_share", "graph", 1.0, (40, 240), (20, 120)),
    "graph all": ("test_graph_all", "training_graph", 0.5, (40, 240), (20, 120)),
    "training": ("test_training", "steps", 1.3, (20, 100), (20, 100)),
}
#: name: (test, bar, cases of both): the same test file under the harness and under OneFlow's own.
DROP_IN = {
    "drop-in eager": ("TestBench::test_eager", 0.6, (200, 1200)),
    "drop-in one op": ("TestBench::test_one_op", 0.9, (20, 140)),
    "drop-in chain": ("TestBench::test_chain", 0.45, (20, 80)),
    "drop-in LSTM": ("TestBench::test_lstm", 0.45, (12, 36)),
}
#: name: (test, bar, cases of both): the same test on standard inputs and on plain ones.
INPUTS = {
    "inputs eager": ("test_open_eager", 1.5, (100, 700)),
    "inputs graph": ("test_open_graph", 1.5, (40, 200)),
}
#: What a quick run measures where nobody names what: one ratio of each kind.
QUICK = ("eager", "graph share", "drop-in one op", "inputs eager", "start", "report")
PAIRS = 3
STARTS = 9


def main() -> None:
    """Run the benchmarks named on the command line, or all; `--quick` runs a few, and measures each ratio once."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    every = [*CASES, *DROP_IN, *INPUTS, *ALONE]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(every)}; default: all")
    quick = f"measure each ratio once, not three times; by default: {', '.join(QUICK)}"
    parser.add_argument("--quick", action="store_true", help=quick)
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(every))
    if unknown:
        parser.error(f"NAME={unknown[0]!r}, but should be one of {', '.join(every)}")
    pairs = 1 if arguments.quick else PAIRS
    print(f"{'benchmark':<16}{'ratio':>8}{'bar':>7}   ours / bare, CPU ms per case; medians of pairs: {pairs}")
    print(f"{'':<31}   drop-in: ours / OneFlow's own harness; inputs: standard / plain")
    with tempfile.TemporaryDirectory(prefix="autotest-bench-") as report:
        for name in arguments.names or (QUICK if arguments.quick else every):
            if name in ALONE:
                ALONE[name]()
            else:
                compare(name, pairs, report)


def compare(name: str, pairs: int, report: str) -> None:
    """Measure one ratio and print it with its bar; the harness's runs are reported in the folder `report`."""
    if name in DROP_IN:
        test, bar, counts = DROP_IN[name]
        ratio, ours, theirs = ratios(drop_in(test, report), upstream(test), counts, counts, pairs)
    elif name in INPUTS:
        test, bar, counts = INPUTS[name]
        standard, plain = harness(test, report, "standard"), harness(test, report, "plain")
        ratio, ours, theirs = ratios(standard, plain, counts, counts, pairs)
    else:
        body, kind, bar, counts, bare_counts = CASES[name]
        ratio, ours, theirs = ratios(harness(body, report), bare(kind), counts, bare_counts, pairs)
    print(f"{name:<16}{ratio:>8.2f}{bar:>7.2f}   {ours * 1e3:.3f} / {theirs * 1e3:.3f}", flush=True)


def start() -> None:
    """Start-up: what importing adds to NumPy, what `--help` takes, what the sleeping plugin adds to pytest."""
    numpy = [sys.executable, "-c", "import numpy"]
    ours = [sys.executable, "-c", "import numpy; from autotest import autotest, random, random_tensor, torch"]
    help_ = [sys.executable, "-m", "autotest", "--help"]
    # no other plugin: theirs take a second to load, whose noise is greater than what is measured
    options = ["--disable-plugin-autoload", "-q", "--collect-only", "benchmarks/measure.py"]
    alone = [sys.executable, "-m", "pytest", *options]
    helped = median(cpu_seconds(help_) for _ in range(STARTS)) * 1e3
    slept = _added(_quiet([*alone, "-p", "autotest.plugin"]), _quiet(alone))
    for name, measured, bar, meaning in (
        ("import", _added(ours, numpy), 150, "importing every public name adds to importing NumPy"),
        ("--help", helped, 300, "autotest --help takes"),
        ("asleep", slept, 10, "the plugin adds to a pytest session without an @autotest test"),
    ):
        print(f"{name:<16}{measured:>8.0f}{bar:>7}   CPU ms that {meaning}", flush=True)


def great_report() -> None:
    """The report of a great run: 100,000 cases, 5,000 of them divergent, each with a fingerprint of its own."""
    figures = great_run()
    for name, bar, meaning in (
        ("render", 10, "CPU seconds that summing up and drawing 100,000 cases take"),
        ("memory", 1000, "MB at most in that process"),
        ("page", 5, "MB of index.html"),
        ("first paint", 1000, "ms until Chromium paints it"),
        ("records", 5, "% of a run's CPU spent on writing its records"),
    ):
        value = figures.get(name)
        text = "skipped" if value is None else f"{value:.1f}"
        print(f"{name:<16}{text:>8}{bar:>7}   {meaning}", flush=True)


ALONE = {"start": start, "report": great_report}


def _quiet(command: list[str]) -> list[str]:
    # pytest's exit status 5, nothing collected, is what this session should end with
    return ["sh", "-c", '"$@" || test $? = 5', "sh", *command]


def _added(ours: list[str], theirs: list[str]) -> float:
    return median((cpu_seconds(ours) - cpu_seconds(theirs)) * 1e3 for _ in range(STARTS))


if __name__ == "__main__":
    main()
