"""From pytest's options to `RunOptions`, and from a finished run to its summary."""

from __future__ import annotations

import os
import secrets
import shlex
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from autotest.errors import UsageError
from autotest.options import Isolate, RunOptions
from autotest.sharding import parse_shard


def run_options(config: pytest.Config, worker: dict[str, Any] | None) -> RunOptions:
    """The run's options; in an xdist worker, folder and seed are the controller's. Raises UsageError."""
    from reports import plan_run

    option = config.getoption
    seed = _seed(option("--autotest-seed")) if worker is None else worker["autotest_seed"]
    report = Path(option("--autotest-report"))
    if not report.is_absolute():
        report = Path(config.invocation_params.dir) / report
    isolate = option("--autotest-isolate")
    if isolate not in get_args(Isolate):
        raise UsageError(
            f"isolate={isolate!r}, but should be one of {', '.join(get_args(Isolate))} [--autotest-isolate]"
        )
    cases = option("--autotest-cases")
    timeout = _number("case_timeout", option("--autotest-case-timeout"), "--autotest-case-timeout")
    debugging = bool(option("usepdb", False)) or bool(option("trace", False))
    shard = option("--autotest-shard")
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
        command=_command() if worker is None else worker["autotest_command"],
        shard=None if shard is None else parse_shard(shard),
    )


def _command() -> str:
    """What a person typed, to be shown and repeated."""
    program = os.path.basename(sys.argv[0])
    return shlex.join(
        ["python", "-m", "pytest", *sys.argv[1:]] if program == "__main__.py" else [program, *sys.argv[1:]]
    )


def _seed(text: str) -> int:
    if text == "random":
        return secrets.randbelow(1 << 31)
    if not text.isdecimal():
        raise UsageError(f"seed={text!r}, but should be a whole number of at least 0, or 'random' [--autotest-seed]")
    return int(text)


def _count(name: str, text: str, knob: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"{name}={text!r}, but should be a whole number of at least 1 [{knob}]")
    return int(text)


def _number(name: str, text: str, knob: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise UsageError(f"{name}={text!r}, but should be a number of seconds of at least 0 [{knob}]")
    return value


def sum_up(folder: Path, config: pytest.Config) -> tuple[str, bool]:
    """Write summary.json, drop old runs; the terminal's text, and whether the harness itself was at fault."""
    from reports import RecordError, prune_runs, read_run, render, save_summary, summarize

    summary = summarize(read_run(folder))
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    writer = getattr(reporter, "_tw", None)
    width = getattr(writer, "fullwidth", 80)
    color = bool(getattr(writer, "hasmarkup", False))
    text = render(summary, width=width, color=color, encoding=getattr(sys.stdout, "encoding", None) or "utf-8")
    try:
        save_summary(folder, summary)
        prune_runs(folder.parent.parent)
    except RecordError as error:
        return f"{text}\n{error}", True
    return text, bool(summary.faults)
