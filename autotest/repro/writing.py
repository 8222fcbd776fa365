"""The repros of a run: for each red fingerprint a folder `repros/<id>` with its script and its issue."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autotest.budget import Allowance
from autotest.cases.store import Store, Stored
from autotest.options.targets import launch
from autotest.repro.issue import Extent, Issue
from autotest.repro.lines import arrays
from autotest.repro.lowered import as_sent
from autotest.repro.running import EACH
from autotest.repro.script import script
from autotest.repro.short import Told, short_text, tell
from autotest.repro.translated import SPEECHES
from autotest.repro.unscripted import Unscripted
from dual_object.errors import ProgramError
from reports.findings.finding import Finding
from reports.folders.repros import FOLDER, ISSUE, SCRIPT
from reports.tallies.summary import Evidence, Summary

#: The short script's file.
SHORT = "short.py"


@dataclass(frozen=True, slots=True)
class Written:
    """A repro on disk; `paths` is where the custom ops of its test are imported from, `short` the text of its short
    script, or why it has none.
    """

    id: str
    folder: Path
    paths: tuple[str, ...]
    issue: Issue
    short: str | Unscripted

    @property
    def python(self) -> str | None:
        """The interpreter that runs the script, where that is not this one: the target's own, if that is all it
        needs.
        """
        row = self.issue.row
        return launch(row["target"], row.get("target_python")).python if row["target"] in SPEECHES else None

    @property
    def script(self) -> Path:
        """The script."""
        return self.folder / SCRIPT

    def begin_issue(self, allowance: Allowance) -> None:
        """Let the issue begin with the short script, if that is seen to show the divergence in the seconds that are
        left; it is kept beside the issue then.
        """
        if isinstance(self.short, Unscripted):
            told = Told(reason=str(self.short))
        elif allowance.over or not allowance.seconds:
            told = Told(reason="there was no time to run it (--repro-total)")
        else:
            (self.folder / SHORT).write_text(self.short, encoding="utf-8")
            told = tell(self.folder / SHORT, self.issue.row, min(EACH, allowance.seconds), allowance)
        self.write_issue(told)

    def write_issue(self, told: Told) -> None:
        """Write the issue with what is told of the short script; where it has none, no file of it stays."""
        if not told.script:
            (self.folder / SHORT).unlink(missing_ok=True)
        (self.folder / ISSUE).write_text(self.issue.text(told), encoding="utf-8")


def write_repro(
    stored: Stored, evidence: Evidence | None, extent: Extent, environment: Mapping[str, str], folder: Path
) -> Written:
    """Write script, arrays and issue of one stored Program into `folder`, anew; the issue is still without its short
    script. Raises Unscripted, OSError.
    """
    test = Path(stored.row["test"].partition("::")[0]).absolute().parent
    paths = tuple(dict.fromkeys([str(test), os.getcwd()]))
    made = script(stored.row, stored.program, stored.rules, stored.shown, environment)
    issue = Issue(
        stored.row,
        str(stored.program),
        stored.rules,
        {} if evidence is None else evidence.to_json(),
        extent,
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
    try:
        short: str | Unscripted = short_text(stored.row, stored.program, stored.shown)
    except Unscripted as reason:
        short = reason
    written = Written(folder.name, folder, paths, issue, short)
    written.write_issue(Told(reason="it has not been run"))
    return written


def extent_of(finding: Finding, summary: Summary) -> Extent:
    """How widely a finding shows: its own cases and tests, and the phases of its op and kind in the whole run."""
    row = finding.first
    parts = row.fingerprint.split("/")
    phases = [
        other.phase
        for other in summary.all_divergences
        if other.kind == row.kind and other.fingerprint.split("/")[3] == parts[3]
    ]
    return Extent(finding.cases, len(finding.tests), sorted({parts[1], *phases}), summary.command)


def attempts(run: Path, finding: Finding, summary: Summary) -> Iterator[Written | str]:
    """Write the repro of a finding from its smallest stored Program, and yield it; whoever asks for another gets the
    one of the next Program, in the same folder.

    Yields a sentence instead where there is no script: `no script: its test stores no program, for it runs inline`.
    """
    if finding.first.fingerprint.split("/")[1] == "contract":
        yield "no script: its test is a function of the framework, and runs as it is"
        return
    try:
        stored = Store(run).programs(finding.first.id)
    except ProgramError as error:
        yield f"no script: {error}"
        return
    if not stored:
        yield "no script: its test stores no program, for it runs inline"
        return
    texts: set[str] = set()
    for candidate in _distinct(stored):
        try:
            written = write_repro(
                as_sent(candidate, summary.lacks),
                summary.evidence.get(finding.fingerprint),
                extent_of(finding, summary),
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
    whole = next(
        (candidate for candidate in stored if candidate.shown is None and str(candidate.program) != str(first.program)),
        None,
    )
    return [first] if whole is None else [first, whole]
