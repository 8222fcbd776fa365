"""Scripts of divergences from OneFlow, which share a process: what each of them imports takes most of its seconds."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from support import run_scripts
from support.runs import INTERPRETER, Outcome, environment


class Ended(NamedTuple):
    """How a script ended, and what it printed."""

    status: int
    out: str


def scripts_of(run: Outcome, words: Sequence[str]) -> list[Path]:
    """For each of some words, the script of the first divergence of a run whose fingerprint has it."""
    rows = [next(row for row in run.summary["divergences"] if word in row["fingerprint"]) for word in words]
    found = [[*run.folder.glob(f"autotest-report/runs/*/repros/{row['id']}/repro.py")] for row in rows]
    assert all(len(paths) == 1 for paths in found), found
    return [path for [path] in found]


def run_all(scripts: Sequence[Path], fault: str = "") -> list[Ended]:
    """Run scripts one after the other, where a fault is planted if one is named. OneFlow now and then ends a process in
    which much has run: one that it ends is followed by another, for the scripts that have not told how they ended.
    """
    ended: list[Ended] = []
    for last in (False, True):
        line = [INTERPRETER, run_scripts.__file__, fault, *map(str, scripts[len(ended) :])]
        done = subprocess.run(line, env=environment({}), capture_output=True, text=True, check=False)  # noqa: S603 - our own interpreter
        ended += [Ended(*json.loads(told)) for told in done.stdout.splitlines() if told.startswith("[")]
        if done.returncode == 0:
            break
        assert done.returncode < 0, done.stdout + done.stderr
        assert not last, done.stdout + done.stderr
    return ended


def assert_stand_where_planted(scripts: Sequence[Path], fault: str) -> None:
    """Each script ends with 1 where the fault is planted, and says so, and with 0 where it is not."""
    sound, wrong = run_all(scripts), run_all(scripts, fault)
    assert [ended.status for ended in sound] == [0] * len(scripts), sound
    assert [ended.status for ended in wrong] == [1] * len(scripts), wrong
    assert all("STANDS: " in ended.out for ended in wrong), wrong
