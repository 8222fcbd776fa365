"""Real runs of the harness: `autotest run` in a process of its own, and what its summary says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
#: Exit statuses of a run that went through: aligned, and diverged.
WENT_THROUGH = (0, 1)
#: What most benches have no use for: minimal cases, verdicts, scripts, and what earlier runs showed.
BARE = ("--shrink", "0", "--blame-total", "0", "--repro-total", "0")


class RunError(RuntimeError):
    """A run did not go through, so that its divergences say nothing: its last words."""


@dataclass(frozen=True)
class Red:
    """A red divergence of a run: in which test (its name alone), of which op, of which kind."""

    test: str
    op: str
    kind: str
    fingerprint: str
    message: str = ""
    count: int = 1
    blame: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Outcome:
    """What a run came to: its red divergences, tests that failed without one, and how many cases it counted."""

    reds: tuple[Red, ...]
    failed: tuple[str, ...]
    cases: int
    seconds: float


def run(
    paths: Sequence[str],
    environment: Mapping[str, str],
    *options: str,
    report: Path | None = None,
    folder_with_memory: Path | None = None,
    laid_out: bool = False,
) -> Outcome:
    """Run tests with further environment variables and options of `autotest run`; raises RunError.

    They run in the project's root and remember nothing, or in another folder with what is remembered there. Most
    benches are about drawn cases; `laid_out`: the tests' corners are run, too.
    """
    root = folder_with_memory or ROOT
    asked: tuple[str, ...] = () if folder_with_memory else ("--no-memory",)
    asked += () if laid_out else ("--coverage", "none")
    with tempfile.TemporaryDirectory(prefix="autotest-bench-") as scratch:
        folder = report or Path(scratch)
        command = [sys.executable, "-m", "autotest", "run", *paths, "--report", str(folder), *BARE, *asked, *options]
        variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
        done = subprocess.run(command, cwd=root, env=variables, capture_output=True, text=True, check=False)  # noqa: S603
        lines = (done.stdout + done.stderr).splitlines()
        faults = [line for line in lines if "the harness failed" in line]
        words = "\n".join([*dict.fromkeys(faults), *lines[-30:]])
        if done.returncode not in WENT_THROUGH:
            raise RunError(f"exit status {done.returncode}, but should be 0 or 1 [{' '.join(command)}]\n{words}")
        file = folder / "summary.json"
        if not file.exists():
            raise RunError(f"the run ended without a summary.json [{' '.join(command)}]\n{words}")
        return outcome(json.loads(file.read_text()))


def outcome(summary: Mapping[str, Any]) -> Outcome:
    """What a `summary.json` says."""
    reds = tuple(
        Red(
            row["test"].rpartition("::")[2],
            row["op"],
            row["kind"],
            row["fingerprint"],
            row["message"],
            row["count"],
            **({"blame": row["blame"]["verdict"], "reason": row["blame"]["reason"]} if row.get("blame") else {}),
        )
        for row in summary["divergences"]
    )
    ended_red = [test.rpartition("::")[2] for test, ended in summary["outcomes"].items() if ended == "failed"]
    divergent = {red.test for red in reds}
    return Outcome(
        reds, tuple(test for test in ended_red if test not in divergent), summary["cases"], summary["seconds"]
    )
