"""What a campaign's driver costs by itself, and what goes through it, with so many slots that do nothing.

    python -m benchmarks.campaign_driver [--slots 1000] [--rounds 3000]

Each slot answers at once with the records of a round of 5 visits of 20 cases, as a real round of a suite has them. The
driver decides rounds, hands them out, writes what comes back, reads it, and writes its log to the disk, as in any
campaign; no report is written meanwhile. What is printed is its own computing, and where it would saturate.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autotest.campaign.config import Config
from autotest.campaign.driver import Driver
from autotest.campaign.log import VISIT, Round
from autotest.campaign.rounds import Rounds
from autotest.campaign.slots import LocalSlots
from autotest.campaign.steering import VISITS

#: Tests that the slots say to have collected, of so many functions.
TESTS = [f"suites/test_{number % 300}.py::test_op[torch.op{number}]" for number in range(6000)]
#: Bytes of a case in the records, and of a test beside: the mean of a run of the suites.
CASE_BYTES = 940
PLAIN_BYTES = 520
CASES = VISITS * VISIT


class EchoSlot:
    """A slot that has run each round as soon as it is told to."""

    counts_unknown = False
    killed = False

    def __init__(self, number: int, traffic: Traffic) -> None:
        self.number = number
        self.round: Round | None = None
        self.tests: dict[str, int] | None = None
        self.answers, self._bell = os.pipe()
        self._said: list[dict[str, Any]] = [{"tests": dict.fromkeys(TESTS, VISIT)}]
        self._records = b""
        self._traffic = traffic
        os.write(self._bell, b".")

    def run(self, round_: Round, options: dict[str, Any]) -> None:
        """Answer with its records."""
        began = time.process_time()
        self.round = round_
        self._records = records(round_)
        self._said = [{"done": round_.number, "cpu": 20.0, "look": 0.0, "memory": 0}]
        self._traffic.count(json.dumps([round_.number, [[v.test, v.options] for v in round_.visits], options]).encode())
        self._traffic.count(json.dumps(self._said).encode() + self._records)
        self._traffic.seconds += time.process_time() - began
        os.write(self._bell, b".")

    def heard(self) -> list[dict[str, Any]]:
        """What was said."""
        os.read(self.answers, 100)
        said, self._said = self._said, []
        return said

    def bring(self, run: Path) -> None:
        """Write the records, as they come from an actor."""
        if self._records and self.round is not None:
            run.mkdir(parents=True, exist_ok=True)
            (run / f"records-{self.round.worker}.jsonl").write_bytes(self._records)

    def last_started(self, run: Path) -> str | None:
        """None has ended."""
        return None

    def last_words(self) -> str:
        """Nothing."""
        return ""

    def how_it_ended(self) -> str:
        """It has not."""
        return "has not ended"

    def close(self) -> None:
        """Let go of the pipe."""
        os.close(self.answers)
        os.close(self._bell)


class Traffic:
    """Messages between the driver and its slots, and the seconds of making them up, which are not the driver's."""

    def __init__(self) -> None:
        self.messages = 0
        self.bytes = 0
        self.seconds = 0.0

    def count(self, message: bytes) -> None:
        """One more."""
        self.messages += 1
        self.bytes += len(message)


class EchoSlots(LocalSlots):
    """Such slots."""

    def __init__(self) -> None:
        self.traffic = Traffic()

    def start(self, number: int, arguments: Sequence[str], told: dict[str, Any], log: Path) -> EchoSlot:
        """Another one."""
        return EchoSlot(number, self.traffic)


def records(round_: Round) -> bytes:
    """What a round without a divergence leaves."""
    base: dict[str, Any] = {
        "reason": None,
        "graph": {"forward": "off", "backward": "off"},
        "seconds": 0.01,
        "divergences": [],
    }
    lines: list[dict[str, Any]] = [
        {"type": "run", "version": 2, "worker": round_.worker, "seed": 0, "inputs": "standard", "target": "torch"}
        | {"environment": {"torch": "2"}, "command": "", "commit": None, "path": None, "selection": None, "time": 1.0}
    ]
    for visit in round_.visits:
        for number in range(visit.cases):
            key = f"{visit.test}#{visit.options['first'] + number}"
            lines.append({"type": "start", "test": visit.test, "key": key, "index": number, "time": 1.0})
            end = {"type": "end", "test": visit.test, "key": key, "verdict": "aligned", "ops": ["op"], "time": 1.0}
            lines.append({**end, **base, "dtypes": ["float32"], "evidence_of_others": "x" * (CASE_BYTES - PLAIN_BYTES)})
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def main() -> None:
    """Run one, and print what it cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slots", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3000)
    asked = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a slot has two descriptors
    with tempfile.TemporaryDirectory(prefix="autotest-driver-") as scratch:
        config = Config(folder=Path(scratch), cases=asked.rounds * CASES, look=0.0, sources=("programs",))
        slots = EchoSlots()
        rounds = Rounds(config)
        began, spent = time.monotonic(), time.process_time()
        Driver(rounds, slots, asked.slots, lambda line: None).go()
        wall, cpu = time.monotonic() - began, time.process_time() - spent - slots.traffic.seconds
        cases = asked.rounds * CASES
        log = (config.folder / "log.jsonl").stat().st_size
    traffic = slots.traffic
    print(f"{asked.slots:,} slots, {asked.rounds:,} rounds, {cases:,} cases in {wall:.1f} s")
    print(f"driver: {1e6 * cpu / cases:.0f} us of computing a case, {cases / cpu:,.0f} cases a second at most")
    sent = f"{traffic.messages / cases:.3f} messages and {traffic.bytes / cases:,.0f} bytes a case"
    print(f"traffic: {sent}; its log has {log / cases:.0f} bytes a case")


if __name__ == "__main__":
    main()
