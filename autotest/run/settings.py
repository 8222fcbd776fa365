"""From pytest's options to `RunOptions`, and from a finished run to its summary."""

from __future__ import annotations

import os
import secrets
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from autotest.errors import UsageError
from autotest.options import Inputs, Isolate, RunOptions, parse_shard


def run_options(config: pytest.Config, worker: dict[str, Any] | None) -> RunOptions:
    """The run's options; in an xdist worker, folder and seed are the controller's. Raises UsageError."""
    from reports import plan_run

    option = config.getoption
    seed = run_seed(option("--autotest-seed")) if worker is None else worker["autotest_seed"]
    report = Path(option("--autotest-report"))
    if not report.is_absolute():
        report = Path(config.invocation_params.dir) / report
    isolate = option("--autotest-isolate")
    if isolate not in get_args(Isolate):
        raise UsageError(
            f"isolate={isolate!r}, but should be one of {', '.join(get_args(Isolate))} [--autotest-isolate]"
        )
    inputs = option("--autotest-inputs")
    if inputs not in get_args(Inputs):
        raise UsageError(f"inputs={inputs!r}, but should be one of {', '.join(get_args(Inputs))} [--autotest-inputs]")
    cases = option("--autotest-cases")
    timeout = number("case_timeout", option("--autotest-case-timeout"), "--autotest-case-timeout")
    debugging = bool(option("usepdb", False)) or bool(option("trace", False))
    shard = option("--autotest-shard")
    total = number("shrink_total", option("--autotest-shrink-total"), "--autotest-shrink-total")
    blame_total = number("blame_total", option("--autotest-blame-total"), "--autotest-blame-total")
    return RunOptions(
        target=option("--autotest-target"),
        seed=seed,
        cases=None if cases is None else _count("cases", cases, "--autotest-cases"),
        case_timeout=None if debugging or timeout == 0 else timeout,
        isolate=isolate,
        report=report,
        folder=plan_run(report, seed) if worker is None else Path(worker["autotest_folder"]),
        root=config.rootpath,
        worker="main" if worker is None else worker["workerid"],
        command=shown_command() if worker is None else worker["autotest_command"],
        commit=commit(config.rootpath) if worker is None else worker["autotest_commit"],
        shard=None if shard is None else parse_shard(shard),
        drop_in=bool(option("--autotest-drop-in")),
        strict=bool(option("--autotest-strict")),
        inputs=inputs,
        survey=bool(option("--autotest-survey")),
        shrink=number("shrink", option("--autotest-shrink"), "--autotest-shrink"),
        memory=not option("--autotest-no-memory"),
        # Processes that run tests side by side share the run's seconds evenly: none knows what the others find.
        shrink_total=total / (worker or {}).get("workercount", 1),
        blame_total=blame_total / (worker or {}).get("workercount", 1),
        case=option("--autotest-case"),
        repro_total=number("repro_total", option("--autotest-repro-total"), "--autotest-repro-total"),
    )


def shown_command() -> str:
    """What a person typed, to be shown and repeated."""
    program = os.path.basename(sys.argv[0])
    return shlex.join(
        ["python", "-m", "pytest", *sys.argv[1:]] if program == "__main__.py" else [program, *sys.argv[1:]]
    )


def commit(root: Path) -> str | None:
    """The checked-out commit of a Git repository, told to have changes where it has; None outside of one."""
    try:
        told = subprocess.run(
            ["git", "describe", "--always", "--abbrev=12", "--dirty=, with changes", "--exclude=*"],  # noqa: S607 - the git on PATH
            cwd=root,
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None  # no git here: the report says nothing of a commit
    return told.stdout.strip() or None


def run_seed(text: str) -> int:
    """The seed that an option names; raises UsageError."""
    if text == "random":
        return secrets.randbelow(1 << 31)
    if not text.isdecimal():
        raise UsageError(f"seed={text!r}, but should be a whole number of at least 0, or 'random' [--autotest-seed]")
    return int(text)


def _count(name: str, text: str, knob: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"{name}={text!r}, but should be a whole number of at least 1 [{knob}]")
    return int(text)


def number(name: str, text: str, knob: str) -> float:
    """The seconds that an option names; raises UsageError."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise UsageError(f"{name}={text!r}, but should be a number of seconds of at least 0 [{knob}]")
    return value
