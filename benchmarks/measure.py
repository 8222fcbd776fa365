"""Measuring: CPU seconds of a command with all its processes, and what one more unit of work costs."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent


def cpu_seconds(command: Sequence[str], **environment: str) -> float:
    """User and system seconds of a command and of every process it waited for; raises CalledProcessError when it
    fails. `environment` is added to this process's.
    """
    variables = {**os.environ, **environment}
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=variables)  # noqa: S603 - ours
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            output.seek(0)
            raise subprocess.CalledProcessError(process.returncode, command, output.read())
    return usage.ru_utime + usage.ru_stime


def bare(kind: str) -> Callable[[int], list[str]]:
    """The command that runs so many bare cases."""
    return lambda count: [sys.executable, "-m", "benchmarks.bare", kind, str(count)]


def harness(test: str, report: str, inputs: str = "plain") -> Callable[[int], list[str]]:
    """The command that runs so many cases of a body through the harness, on inputs of one kind: plain ones are what
    bare cases draw.
    """
    options = ["-n", "0", "--inputs", inputs, "--report", report, "--cases"]
    return lambda count: [
        sys.executable,
        "-m",
        "autotest",
        "run",
        f"{HERE / 'bench_cases.py'}::{test}",
        *options,
        str(count),
    ]


def upstream(test: str) -> Callable[[int], list[str]]:
    """The command that runs a drop-in test under OneFlow's own harness; CASES says how many cases."""
    return lambda count: [sys.executable, "-m", "benchmarks.upstream", f"{HERE / 'dropin_cases.py'}::{test}"]


def drop_in(test: str, report: str) -> Callable[[int], list[str]]:
    """The command that runs the same test through the harness."""
    run = [sys.executable, "-m", "autotest", "run", "--drop-in", f"{HERE / 'dropin_cases.py'}::{test}"]
    return lambda count: [*run, "-n", "0", "--report", report, "--", "-W", "ignore"]


def per_unit(command: Callable[[int], list[str]], low: int, high: int) -> float:
    """CPU seconds that one more unit costs: start-up is in both runs and falls out. CASES names the units as well."""
    seconds = [cpu_seconds(command(count), CASES=str(count), ONEFLOW_TEST_CPU_ONLY="1") for count in (low, high)]
    return (seconds[1] - seconds[0]) / (high - low)


def ratios(
    ours: Callable[[int], list[str]],
    theirs: Callable[[int], list[str]],
    counts: tuple[int, int],
    bare_counts: tuple[int, int],
    pairs: int,
) -> tuple[float, float, float]:
    """Median of ours / theirs, measured in turn, and the medians of both in seconds per unit."""
    measured = [(per_unit(ours, *counts), per_unit(theirs, *bare_counts)) for _ in range(pairs)]
    return (
        median(a / b for a, b in measured),
        median(a for a, _ in measured),
        median(b for _, b in measured),
    )
