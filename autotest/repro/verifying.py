"""Verifying repros: each script is run once in a process of its own before it is told of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from autotest.budget import Allowance
from autotest.exits import CANNOT_RUN
from autotest.repro.running import EACH, run_python
from autotest.repro.writing import Written, attempts
from reports.findings.finding import Finding, findings, is_red
from reports.folders.repros import VERIFIED, ReproResult, load_repros, save_repros
from reports.tallies.summary import Summary

#: So many run at a time: each holds two frameworks.
TOGETHER = 2

#: How is told that a script was not run to its end.
_UNVERIFIED = "not verified"
_STOPPED = f"{_UNVERIFIED}: the run was stopped, or --repro-total is 0"
NOT_REPRODUCED = "did not reproduce (exit 0)"


def write_repros(run: Path, summary: Summary, total: float, shown: Callable[[int, int], object] | None = None) -> None:
    """Write and verify the repros of a run's red findings, the worst first, and keep what became of each. A script that
    an earlier report of the same run has run is as it was. `shown` hears how many are done, and of how many.

    Raises RecordError, OSError where the folder cannot be written.
    """
    red = [finding for finding in findings(summary.all_divergences) if is_red(finding.level)]
    held = {
        id_: ReproResult(repro.folder is not None, repro.words)
        for id_, repro in load_repros(run).items()
        if not repro.words.startswith(_UNVERIFIED)
    }
    red = [finding for finding in red if finding.first.id not in held]
    if not red:
        return
    allowance = Allowance(total)
    results: dict[str, ReproResult] = {}
    try:
        with ThreadPoolExecutor(TOGETHER) as pool:
            try:
                written = pool.map(lambda f: _write_repro(run, f, summary, allowance), red)
                for finding, result in zip(red, written, strict=True):
                    if shown is not None:
                        shown(len(results) + 1, len(red))
                    results[finding.first.id] = result
            except KeyboardInterrupt:  # or the pool would wait for all of them
                allowance.stop()
                raise
    finally:
        save_repros(run, held | results)


def _write_repro(run: Path, finding: Finding, summary: Summary, allowance: Allowance) -> ReproResult:
    """Write a finding's repro, from the least Program that reproduces it, and say what became of it: a script that we
    fail to write costs itself, not what the run has found.
    """
    try:
        return settle(attempts(run, finding, summary), allowance)
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        return ReproResult(False, f"no script: the harness failed to write it ({told}); please report this")


def settle(candidates: Iterator[Written | str], allowance: Allowance) -> ReproResult:
    """Take the first candidate that reproduces; where none does, the one written last. All of a run's scripts share its
    allowance.
    """
    result = ReproResult(False, "no script")
    for candidate in candidates:
        if isinstance(candidate, str):
            return ReproResult(False, candidate)
        result = ReproResult(
            True,
            _refusal(allowance)
            or verify(candidate.script, candidate.paths, python=candidate.python, allowance=allowance),
        )
        if result.words != NOT_REPRODUCED:
            if result.words == VERIFIED:
                candidate.begin_issue(allowance)
            return result
    return result


def _refusal(allowance: Allowance) -> str | None:
    """Why no further script is started, None while there is time."""
    if allowance.stopped or not allowance.seconds:
        return _STOPPED
    return f"{_UNVERIFIED}: budget ({allowance.seconds:g} s, --repro-total)" if allowance.over else None


def verify(
    script: Path,
    paths: Sequence[str] = (),
    seconds: float = EACH,
    python: str | None = None,
    allowance: Allowance | None = None,
) -> str:
    """Run a script and say in words what it ended with; `paths` is where it may import from, `python` the interpreter
    that has its target, where that is not this one. Where the `allowance` is stopped, it is ended.
    """
    ended = run_python([str(script)], paths, seconds, python, allowance)
    if ended.status is None and allowance is not None and allowance.stopped:
        return _STOPPED
    if ended.status is None:
        return f"{_UNVERIFIED}: it did not end within {seconds:g} s"
    return words(ended.status, ended.out, ended.err)


def words(status: int, out: str, err: str = "") -> str:
    """What a script's exit status and output amount to."""
    lines = [line.strip() for line in [*out.splitlines(), *err.splitlines()] if line.strip()]
    last = lines[-1] if lines else "it said nothing"
    # A script that breaks by itself ends with 1 as well: only its own sentence says that the divergence stands.
    if status == 1 and any(line.startswith("STANDS: ") for line in lines):
        return VERIFIED
    if status == 0:
        return NOT_REPRODUCED
    if status == CANNOT_RUN:
        reason = next((line for line in lines if line.startswith("cannot run here: ")), last)
        return f"could not run (exit 125): {reason.removeprefix('cannot run here: ')}"
    return f"failed (exit {status}): {last}"
