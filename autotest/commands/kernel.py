"""`autotest kernel KERNEL --like OP`: whether a function is an op."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from autotest.kernels.claims import kernel_at, op_path
from autotest.kernels.findings import Verdict
from autotest.kernels.judging import Kernel
from autotest.kernels.questions import Asking
from autotest.kernels.running import judge_of
from autotest.kernels.script import write_script
from autotest.kernels.telling import times_data, times_text, verdict_data, verdict_text
from autotest.repro.running import run_python
from dual_object.replay.adapter import load_reference


def judge_kernels(
    kernels: Sequence[str],
    like: str | None,
    asking: Asking,
    *,
    budget: float | None,
    delegates: bool,
    sandbox: bool,
    timed: bool,
    timeout: float | None,
    memory: int | None,
    output: Path,
    as_json: bool,
) -> tuple[int, str]:
    """Judge each kernel; the status, 0 where all are accepted and 1 where not, and what is said of them.

    Raises UsageError, and EnvironmentFault for a file that cannot be imported, or a sandbox that is not there.
    """
    reference = load_reference()
    rows, texts, refused = [], [], False
    for text in kernels:
        kernel = replace(kernel_at(text, delegates=delegates), sandbox=sandbox)
        path = op_path(reference, like, kernel)
        judge = judge_of(replace(asking, path=path), timeout, memory)
        started = time.monotonic()
        verdict = judge.judge(kernel, budget)
        seconds = time.monotonic() - started
        refused = refused or not verdict.accepted
        measured = judge.times(kernel) if timed else []
        scripts = _scripts(output / f"{kernel.file.stem}.{kernel.function}", kernel, verdict)
        rows.append(verdict_data(text, verdict, scripts, seconds) | ({"times": times_data(measured)} if timed else {}))
        texts.append(verdict_text(text, verdict, scripts, seconds) + times_text(verdict.like, measured))
    told = json.dumps(rows, indent=1) + "\n" if as_json else "\n".join(texts)
    return int(refused), told


def _scripts(folder: Path, kernel: Kernel, verdict: Verdict) -> dict[str, str]:
    """The scripts that show findings, by category; each has been run."""
    found: dict[str, str] = {}
    for finding in verdict.findings:
        place = folder / finding.category.replace(" ", "-")
        script = write_script(place, verdict.like, kernel.file.resolve(), kernel.function, finding)
        if script is not None and run_python([str(script)]).status == 1:
            found[finding.category] = str(script)
    return found


__all__ = ["judge_kernels"]
