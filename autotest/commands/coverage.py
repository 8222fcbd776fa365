"""What of each op's argument space a run has reached, for `autotest coverage`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from autotest.errors import UsageError
from dual_object.meant import did_you_mean
from reports import ArgumentSpace, FolderError, never_text, read_run, resolve_run, space_text, summarize

#: What is told: every level, what was never reached, or everything for a program.
Form = Literal["all", "never", "json"]


def coverage_text(folder: Path, ops: Sequence[str], form: Form, *, width: int, encoding: str) -> str:
    """Tell what the latest run of a report folder, or a run, has reached of the ops that are asked for, else of all.

    Raises ReportError where there is no run or it tells nothing of that, UsageError for an op that it has not called.
    """
    run = resolve_run(folder)
    space = summarize(read_run(run)).space
    if not space.ops:
        raise FolderError(
            f"{run} tells nothing of what its ops were given: no test in it has ended that drew a case; run the tests "
            "first"
        )
    if ops:
        space = space.of([_known(op, space, run) for op in dict.fromkeys(ops)])
    if form == "json":
        return json.dumps(space.to_json(), indent=1)
    return (never_text if form == "never" else space_text)(space, width, encoding)


def _known(op: str, space: ArgumentSpace, run: Path) -> str:
    if op in space.ops:
        return op
    way_out = did_you_mean(op, space.ops) or "; without an OP all of them are told"
    raise UsageError(f"OP={op!r}, but should be an op that the tests of {run} call{way_out}")
