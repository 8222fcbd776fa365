"""The repros of a run: for each red fingerprint a folder `repros/<id>` with its script and its issue."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autotest.cases.store import Store, Stored
from autotest.repro import arrays
from autotest.repro.issue import Seen, issue_text
from autotest.repro.script import Unscripted, script
from dual_object.errors import ProgramError
from reports.findings import Finding
from reports.repros import FOLDER, ISSUE
from reports.summary import SCRIPT, Evidence, Summary


@dataclass(frozen=True, slots=True)
class Written:
    """A repro on disk; `paths` is where the custom ops of its test are imported from."""

    id: str
    folder: Path
    paths: tuple[str, ...]

    @property
    def script(self) -> Path:
        """The script."""
        return self.folder / SCRIPT


def write_repro(
    stored: Stored, evidence: Evidence | None, seen: Seen, environment: Mapping[str, str], folder: Path
) -> Written:
    """Write script, arrays and issue of one stored Program into `folder`, anew. Raises Unscripted, OSError."""
    test = Path(stored.row["test"].partition("::")[0]).absolute().parent
    paths = tuple(dict.fromkeys([str(test), os.getcwd()]))
    made = script(
        stored.row,
        stored.program,
        stored.rules,
        stored.shown,
        environment,
        os.pathsep.join(map(os.path.relpath, paths)),
    )
    text = issue_text(
        stored.row,
        str(stored.program),
        stored.rules,
        {} if evidence is None else evidence.to_json(),
        seen,
        environment,
        made.text,
        arrays.FILE_NAME if made.arrays else "",
    )
    folder.mkdir(parents=True, exist_ok=True)
    if made.arrays:
        arrays.write(folder, made.arrays)
    else:
        (folder / arrays.FILE_NAME).unlink(missing_ok=True)
    (folder / SCRIPT).write_text(made.text, encoding="utf-8")
    (folder / ISSUE).write_text(text, encoding="utf-8")
    return Written(folder.name, folder, paths)


def seen_in(finding: Finding, summary: Summary) -> Seen:
    """How widely a finding shows: its own cases and tests, and the phases of its op and kind in the whole run."""
    row = finding.first
    parts = row.fingerprint.split("/")
    phases = [
        other.phase
        for other in summary.all_divergences
        if other.kind == row.kind and other.fingerprint.split("/")[3] == parts[3]
    ]
    return Seen(finding.cases, len(finding.tests), sorted({parts[1], *phases}), summary.command)


def attempts(run: Path, finding: Finding, summary: Summary) -> Iterator[Written | str]:
    """Write the repro of a finding, from the least stored Program first; whoever asks again gets that of the next one.

    Gives a reason instead where there is none.
    """
    try:
        stored = Store(run).programs(finding.first.id)
    except ProgramError as error:
        yield f"no script: {error}"
        return
    if not stored:
        yield "no script: its test stores no program, for it runs inline"
        return
    texts: set[str] = set()
    for one in _distinct(stored):
        try:
            written = write_repro(
                one,
                summary.evidence.get(finding.fingerprint),
                seen_in(finding, summary),
                summary.environment,
                run / FOLDER / finding.first.id,
            )
        except (Unscripted, ValueError) as error:
            if not texts:
                yield f"no script: {error}"
            return
        texts.add(written.script.read_text(encoding="utf-8"))
        yield written


def _distinct(stored: Sequence[Stored]) -> list[Stored]:
    """The least proof and the least whole Program, where these are two."""
    first = stored[0]
    whole = next((one for one in stored if one.shown is None and str(one.program) != str(first.program)), None)
    return [first] if whole is None else [first, whole]
