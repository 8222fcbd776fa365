"""`autotest replay ID`: a stored Program, run again on both sides."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from autotest.blame import blame
from autotest.case import Case
from autotest.comparison import Difference, Rules, compare, failure_difference
from autotest.divergence import Divergence
from autotest.errors import AutotestError, EnvironmentFault
from autotest.exits import GONE, STANDS
from autotest.worker import Death, GraphFailure, Supervisor
from dual_object.adapter import Adapter, GraphRefusal
from dual_object.errors import ProgramError
from dual_object.observation import Failure, Observation, failure_kind
from dual_object.program import Program
from dual_object.replay import Replay
from reports import ReportError, failure_text, resolve_run, runs


class ReplayError(AutotestError, LookupError):
    """A divergence cannot be replayed here."""


def replay_id(id_: str, report: Path, target: str | None, timeout: float | None) -> tuple[int, str]:
    """Replay the stored Program of divergence `id_`; the exit status and what to print. Raises ReplayError."""
    path = find(id_, report)
    try:
        program, note = Program.load(path)
    except ProgramError as error:
        raise ReplayError(str(error)) from None
    row, rules = note["row"], Rules(**note["rules"])
    if row["kind"] == "batch_only":
        raise ReplayError(
            f"{id_} shows only in a static graph that other cases share: run its test again, {row['test']}"
        )
    from dual_object.adapters.torch import Adapter as Reference

    # As pytest does: custom ops and targets may live beside the test.
    sys.path[:0] = [str(Path(row["test"].partition("::")[0]).absolute().parent), os.getcwd()]
    reference = Reference()
    supervisor = Supervisor(target or row["target"], timeout)
    try:
        found = _run(reference, supervisor, program, rules, graph=row["phase"].startswith("graph"))
    except EnvironmentFault as error:
        raise ReplayError(str(error)) from None
    finally:
        supervisor.close()
    name = target or row["target"]
    rows = [divergence.row(name, row["test"], row["case_key"]) for divergence in found]
    same_phase = [shown for shown in rows if shown["phase"] == row["phase"]]
    if same_phase:
        stands = any(shown["fingerprint"] == row["fingerprint"] for shown in same_phase)
        lead = f"{id_} stands" if stands else f"{id_} still diverges, but as something else"
        return STANDS, f"{lead}: {failure_text(same_phase, cases=1)}"
    return GONE, f"{id_} is gone: {row['fingerprint']} no longer diverges\n\n{program}"


def find(id_: str, report: Path) -> Path:
    """The newest stored Program of a divergence; raises ReplayError naming where it looked."""
    if not id_.isalnum():
        raise ReplayError(f"ID={id_!r}, but should be the eight digits that a report names")
    try:
        latest = resolve_run(report)
    except ReportError as error:
        raise ReplayError(str(error)) from None
    folders = [latest, *reversed(runs(report))]
    for folder in folders:
        stored = sorted((folder / "programs").glob(f"{id_}-*.json"))
        if stored:
            return stored[0]
    raise ReplayError(
        f"ID={id_!r} names no stored Program under {report}{os.sep}; "
        "run its test again, or name the folder that has it with --report (a test that runs inline stores none)"
    )


def _run(
    reference: Adapter, target: Supervisor, program: Program, rules: Rules, *, graph: bool
) -> Sequence[Divergence]:
    expected = Replay(reference, program, side="reference").run()
    if expected.ended:
        failure = expected.failures[-1]
        raise ReplayError(f"PyTorch itself cannot run the program here: {failure.classes[0]}: {failure.message}")
    [eager] = target.eager([program])
    if isinstance(eager, Death):
        return [_death(program, eager, "eager_forward")]
    if not graph:
        found = compare(program, expected, eager, rules)
        return blame(reference, target, program, found, rules, graph=False)
    case = Case(0, "", program, expected)
    keys = [case.gradient_keys()] if program.cotangents else None
    answer = target.graph([program], keys)
    if isinstance(answer, Death):
        return [_death(program, answer, "graph_forward")]
    result = answer if isinstance(answer, GraphFailure) else answer[0]
    if isinstance(result, Observation):
        found = compare(program, eager, result, rules, graph=True) or compare(
            program, expected, result, rules, graph=True
        )
        return blame(reference, target, program, found, rules, graph=True)
    call = result.call if isinstance(result, GraphRefusal) else None
    failure = Failure(call, failure_kind(result.classes, result.message), result.classes, result.message)
    return [Divergence(failure_difference(program, failure, "graph_forward"), program, call)]


def _death(program: Program, death: Death, phase: str) -> Divergence:
    kind = "timeout" if death.timed_out else "crash"
    difference = Difference(
        "graph_forward" if phase == "graph_forward" else "eager_forward",
        kind,
        "the program",
        f"the target {death.sentence()}",
        call=death.call,
    )
    return Divergence(difference, program, death.call)
