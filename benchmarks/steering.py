"""What steering is worth: distinct red fingerprints, and ops with a kind, per minute of computing, steered in each way
and uniformly.

    python -m benchmarks.steering [--target oneflow] [--time 30m] [--sources mutations ...] [--ways finds cells]

All have the same seed, tests and budget, and run side by side, so that a busy machine is as busy for both. They are
held against each other at the computing that both have spent, and by how much of it each takes to find as much: what
there is to find runs out, and each way would come to all of it in the end.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from autotest.campaign.log import Log
from autotest.compare.fingerprint import Fingerprint

#: How campaigns may be steered, besides uniformly.
WAYS = ("finds", "cells")
UNIFORM = "uniform"


class Point(NamedTuple):
    """Where a campaign was after a round."""

    seconds: float
    cases: int
    fingerprints: int
    kinds: int


def found(folder: Path) -> list[Point]:
    """After each round: seconds of computing, cases, distinct red fingerprints, and ops with a kind, so far."""
    seconds, cases, seen = 0.0, 0, dict[str, Fingerprint]()
    curve = []
    for _, done in sorted(Log(folder).done.items()):
        seconds += done.cpu
        cases += sum(done.cases.values())
        seen |= {id_: Fingerprint.parse(text) for rows in done.found.values() for id_, text in rows.items()}
        curve.append(Point(seconds, cases, len(seen), len({(one.op, one.kind) for one in seen.values()})))
    return curve


def until(curve: list[Point], seconds: float) -> Point:
    """Where a campaign was after so much computing."""
    return [point for point in curve if point.seconds <= seconds][-1]


def since(curve: list[Point], fingerprints: int) -> float:
    """The seconds of computing after which a campaign had so many fingerprints; infinite where it never had."""
    return next((point.seconds for point in curve if point.fingerprints >= fingerprints), float("inf"))


def main() -> None:
    """Run them, and print what each has found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", default="oneflow")
    parser.add_argument("--time", default="30m")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--sources", nargs="*", default=["mutations", "calls"])
    parser.add_argument("--ways", nargs="*", default=WAYS, choices=WAYS)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="autotest-steering-") as scratch:
        folders = {way: Path(scratch) / way for way in (*asked.ways, UNIFORM)}
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
    common = min(curve[-1].seconds for curve in curves.values())
    points = {way: until(curve, common) for way, curve in curves.items()}
    for way, point in points.items():
        print(
            f"{way:8} {point.cases:7,} cases, {point.fingerprints:5,} fingerprints of {point.kinds:5,} ops with a kind "
            f"in {point.seconds / 60:.1f} min of computing"
        )
    uniform = points[UNIFORM]
    for way in asked.ways:
        point = points[way]
        shares = (point.fingerprints / uniform.fingerprints, point.kinds / uniform.kinds)
        print(f"{way} / uniform: {shares[0]:.2f} fingerprints, {shares[1]:.2f} ops with a kind")
        faster = uniform.seconds / since(curves[way], uniform.fingerprints)
        print(f"{way} finds as many fingerprints as uniform {faster:.2f} times as fast")


if __name__ == "__main__":
    main()
