"""How much of a ledger a campaign finds that has never seen it: ops with a kind, by minutes of computing.

    python -m benchmarks.rediscovery [--target oneflow] [--time 2h] [--seed 0] [--folder DIR]

The suites are copied without their ledgers, so that what is known of them is red. `--folder` keeps the campaign there;
with `--time 0` what one has found there is told.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from autotest.campaign.log import Log
from autotest.compare.fingerprint import Fingerprint
from autotest.exits import USAGE
from autotest.ledger.entries import read
from autotest.options.ledger import FILE_NAME, OWN_NAME, SUITES

#: After so many minutes of computing it is told, and at the end.
MINUTES = (15, 30, 60, 90, 120)
Pair = tuple[str, str]


def known(target: str) -> set[Pair]:
    """The ops with a kind that the suites' ledger of a target has, but for global tensors and contracts."""
    own = SUITES / OWN_NAME.format(target)
    entries = read(own if own.exists() else SUITES / FILE_NAME, target).entries.values()
    single = [entry.parts for entry in entries if not entry.general]
    return {(one.op, one.kind) for one in single if not one.phase.startswith(("global", "contract"))}


def found(folder: Path) -> Iterator[tuple[float, int, set[Pair]]]:
    """After each round: minutes of computing, cases, and all ops with a kind that were red so far."""
    seconds, cases, pairs = 0.0, 0, set[Pair]()
    for _, done in sorted(Log(folder).done.items()):
        seconds += done.cpu
        cases += sum(done.cases.values())
        shown = [Fingerprint.parse(text) for rows in done.found.values() for text in rows.values()]
        pairs |= {(one.op, one.kind) for one in shown}
        yield seconds / 60, cases, set(pairs)


def main() -> None:
    """Run it, and print what it has found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", default="oneflow")
    parser.add_argument("--time", default="2h")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="autotest-rediscovery-") as scratch:
        folder = asked.folder or Path(scratch) / "campaign"
        if asked.time != "0":
            suites = Path(scratch) / "suites"
            shutil.copytree(SUITES, suites, ignore=shutil.ignore_patterns("known_divergences*", "__pycache__"))
            options = ["--target", asked.target, "--time", asked.time, "--seed", asked.seed, "--look", "0"]
            options += [word for source in ("programs", "calls", "mutations") for word in ("--sources", source)]
            command = [sys.executable, "-m", "autotest", "campaign", *options, "--tests", str(suites)]
            done = subprocess.run([*command, "--folder", str(folder)], check=False)  # noqa: S603 - our own command
            if done.returncode == USAGE:
                sys.exit(done.returncode)
        told(known(asked.target), folder)


def told(ledger: set[Pair], folder: Path) -> None:
    """Print what was found after some minutes, and in the end."""
    ahead = list(MINUTES)
    last = None
    for minutes, cases, pairs in found(folder):
        while ahead and minutes >= ahead[0]:
            print(f"{ahead.pop(0):4} min: {line(ledger, cases, pairs)}")
        last = minutes, cases, pairs
    if last is not None:
        print(f"{last[0]:4.0f} min: {line(ledger, *last[1:])}, at the end")


def line(ledger: set[Pair], cases: int, pairs: set[Pair]) -> str:
    """What a campaign has found, held against a ledger."""
    share = len(pairs & ledger) / len(ledger)
    return f"{len(pairs & ledger)} of {len(ledger)} ({share:.1%}), and {len(pairs - ledger)} others, in {cases:,} cases"


if __name__ == "__main__":
    main()
