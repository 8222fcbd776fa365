"""What steering is worth: distinct red fingerprints per minute of computing, steered in each way and uniformly.

    python -m benchmarks.steering [--target oneflow] [--time 30m] [--sources mutations ...]

All have the same seed, tests and budget, and run side by side, so that a busy machine is as busy for both. They are
held against each other at the computing that both have spent.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from autotest.campaign.log import Log

#: How campaigns may be steered, and what is compared with what.
WAYS = ("finds", "cells", "uniform")


def found(folder: Path) -> list[tuple[float, int, int]]:
    """After each round: seconds of computing, cases, and distinct red fingerprints so far."""
    seconds, cases, seen = 0.0, 0, set[str]()
    curve = []
    for _, done in sorted(Log(folder).done.items()):
        seconds += done.cpu
        cases += sum(done.cases.values())
        seen |= {id_ for rows in done.found.values() for id_ in rows}
        curve.append((seconds, cases, len(seen)))
    return curve


def until(curve: list[tuple[float, int, int]], seconds: float) -> tuple[float, int, int]:
    """Where a campaign was after so much computing."""
    return [point for point in curve if point[0] <= seconds][-1]


def main() -> None:
    """Run them, and print what each has found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", default="oneflow")
    parser.add_argument("--time", default="30m")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--sources", nargs="*", default=["mutations", "calls"])
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="autotest-steering-") as scratch:
        folders = {way: Path(scratch) / way for way in WAYS}
        options = ["--target", asked.target, "--time", asked.time, "--seed", asked.seed, "-n", "1", "--look", "0"]
        options += [option for source in asked.sources for option in ("--sources", source)]
        running = [
            subprocess.Popen(  # noqa: S603 - our own command
                [sys.executable, "-m", "autotest", "campaign", *options, "--folder", str(folder), "--steering", way],
                stdout=subprocess.DEVNULL,
            )
            for way, folder in folders.items()
        ]
        for process in running:
            process.wait()
        curves = {way: found(folder) for way, folder in folders.items()}
    common = min(curve[-1][0] for curve in curves.values())
    rates = {}
    for way, curve in curves.items():
        seconds, cases, distinct = until(curve, common)
        rates[way] = 60 * distinct / seconds
        print(
            f"{way:8} {cases:7,} cases, {distinct:5,} fingerprints in {seconds / 60:.1f} min of computing: "
            f"{rates[way]:.1f} a minute"
        )
    for way in WAYS[:-1]:
        print(f"{way} / uniform: {rates[way] / rates['uniform']:.2f}")


if __name__ == "__main__":
    main()
