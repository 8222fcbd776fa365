"""`autotest repro ID`: the script and the issue of one divergence, written again from its stored Program."""

from __future__ import annotations

from pathlib import Path

from autotest.budget import Allowance
from autotest.cases.store import find_run, whole_id
from autotest.repro.issue import Extent
from autotest.repro.lowered import as_sent
from autotest.repro.running import EACH
from autotest.repro.unscripted import Unscripted
from autotest.repro.writing import extent_of, write_repro
from dual_object.errors import ProgramError
from reports import read_run, summarize
from reports.errors import RecordError
from reports.findings.finding import findings
from reports.folders.repros import script_path


def repro_again(id_: str, report: Path, output: Path | None) -> Path:
    """Write them into `output`, by default where the run itself would have; where the script lies.

    Raises ReplayError for an ID that names nothing, Unscripted where there can be no script, ReportError for a run that
    cannot be read or a folder that cannot be written.
    """
    id_ = whole_id(id_, report)
    store = find_run(id_, report)
    run = store.run
    summary = summarize(read_run(run))
    finding = next((candidate for candidate in findings(summary.all_divergences) if candidate.first.id == id_), None)
    try:
        stored = store.programs(id_)[0]
    except ProgramError as error:
        raise Unscripted(str(error)) from None
    if finding is None:  # the Programs outlived the record
        evidence, extent = None, Extent(1, 1, [stored.row["phase"]], summary.command)
    else:
        evidence, extent = summary.evidence.get(finding.fingerprint), extent_of(finding, summary)
    folder = script_path(run, id_).parent if output is None else output
    try:
        written = write_repro(as_sent(stored, summary.lacks), evidence, extent, summary.environment, folder)
        written.begin_issue(Allowance(EACH))
        return written.script
    except OSError as error:
        raise RecordError(
            f"{folder} cannot be written: {error.strerror}; choose another folder with --output"
        ) from None
