"""`autotest replay ID`: a stored Program, run again on both sides."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autotest.cases.store import ReplayError, Stored, find, read
from autotest.commands.replaying.float64 import has_floats, in_float64, verdict
from autotest.compare.divergence import Divergence
from autotest.compare.fingerprint import configuration_of
from autotest.compare.kinds import in_graph
from autotest.errors import EnvironmentFault
from autotest.exits import GONE, STANDS
from autotest.judge.standalone import TrialError, trial
from autotest.options.overrides import Override
from autotest.options.targets import launch
from autotest.workers.protocol import Target
from autotest.workers.wrapped.lowered import LoweringSupervisor
from dual_object.errors import CannotWiden, TargetError
from dual_object.program.global_layouts import ranks_needed
from dual_object.program.program import Program
from dual_object.replay.adapter import Reference, TargetInfo, load_reference
from dual_object.replay.stages import called
from reports import failure_text

#: A target that fails in another way by chance gets so many runs in which to fail as it was stored.
TRIALS = 3


@dataclass(frozen=True, slots=True)
class Shown:
    """What a target shows of a stored Program.

    Attributes:
        row: what is stored of the divergence.
        program: what ran.
        float64: whether it ran in float64, which was asked for.
        rows: the divergences that it shows now.
        target: who was asked.
        info: what that says of itself.
    """

    row: Mapping[str, Any]
    program: Program
    float64: bool
    rows: Sequence[Mapping[str, Any]]
    target: str
    info: TargetInfo

    @property
    def in_phase(self) -> Sequence[Mapping[str, Any]]:
        """Those in the phase that diverged; none: it is gone."""
        return [other for other in self.rows if other["phase"] == self.row["phase"]]

    @property
    def stands(self) -> bool:
        """Whether the stored divergence is among them, or others in its place alone."""
        return any(other["fingerprint"] == self.row["fingerprint"] for other in self.in_phase)


def told(now: Shown) -> tuple[int, str]:
    """The exit status of a replay, and what to print."""
    if now.float64:
        return verdict(now.row, now.target, now.rows, now.program)
    id_ = now.row["id"]
    if now.in_phase:
        lead = f"{id_} stands" if now.stands else f"{id_} still diverges, but as something else"
        return STANDS, f"{lead}: {failure_text(now.in_phase, cases=1)}"
    return GONE, f"{id_} is gone: {now.row['fingerprint']} no longer diverges on {now.target}\n\n{now.program}"


def shown(
    id_: str,
    report: Path,
    target: str | None,
    timeout: float | None,
    *,
    python: str | None = None,
    memory: int | None = None,
    original: bool = False,
    float64: bool = False,
) -> Shown:
    """Run the stored Program of divergence `id_` on both sides: the one that it was shrunk to or the `original`, in its
    dtypes or in float64. Raises ReplayError.
    """
    stored = stored_program(id_, report, original=original)
    program, row = stored.program, stored.row
    # As pytest does: custom ops and targets may live beside the test.
    sys.path[:0] = [str(Path(row["test"].partition("::")[0]).absolute().parent), os.getcwd()]
    reference = load_reference()
    if float64 and not has_floats(program):
        raise ReplayError(f"{id_} has no floating input, so float64 changes nothing: replay it without --float64")
    default = "float64" if float64 else None
    name = target or row["target"]
    python = python or (row.get("target_python") if name == row["target"] else None)
    kernels = [Override.from_json(told) for told in row.get("override", ()) if name == row["target"]]
    launched = launch(name, python, overrides=kernels)
    supervisor = LoweringSupervisor(launched, timeout, default, memory, reference=load_reference)
    diverging: list[tuple[str, Divergence]] = []
    try:
        info = supervisor.info()
        listed = supervisor.stages()
        each: Mapping[str, Target] = {next(iter(listed), called(name, lambda: info)[0]): supervisor}
        if listed and in_graph(row["phase"]):  # eagerly all stages are one
            each = listed
        with reference.default_dtype(default or "float32"):
            program = in_float64(reference, program) if float64 else program
            for stage, one in each.items():
                diverging += [
                    (stage, found) for found in _trials(reference, one, stage, stored, program, float64=float64)
                ]
    except CannotWiden as error:
        raise ReplayError(f"{id_} has no meaning in float64: {error}") from None
    except (EnvironmentFault, TargetError, TrialError) as error:
        raise ReplayError(str(error)) from None
    finally:
        supervisor.close()
    # What shows now may have another id, of which nothing is stored: what can be replayed is the one asked for.
    again = f"autotest replay {id_}" + " --original" * original + " --float64" * float64
    rows = [
        {
            **(new := divergence.row(stage, row["test"], row["case_key"])),
            "message": divergence.translated(new["message"], info),
            "replay": again,
            "evidence": divergence.evidence(),
        }
        for stage, divergence in diverging
    ]
    return Shown(row, program, float64, rows, name, info)


def _trials(
    reference: Reference, target: Target, name: str, stored: Stored, program: Program, *, float64: bool
) -> Sequence[Divergence]:
    """What a target of this name shows of a Program, in as many runs as it takes to show what is stored."""
    row = stored.row
    whole = row["kind"] == "unsupported"
    divergences: Sequence[Divergence] = ()
    for _ in range(1 if float64 else TRIALS):
        divergences = trial(
            reference,
            target,
            program,
            stored.rules,
            graph=in_graph(row["phase"]),
            whole=whole,
            configuration=configuration_of(row["fingerprint"]),
        )
        shown = [one.fingerprint(name) for one in divergences]
        if row["fingerprint"] in shown or not any(f"/{row['phase']}/" in one for one in shown):
            break
    return divergences


def stored_program(id_: str, report: Path, *, original: bool = False) -> Stored:
    """What is stored of a divergence; raises ReplayError where there is none, or it does not diverge by itself."""
    stored = read(find(id_, report, original=original))
    test = stored.row["test"]
    if stored.row["kind"] == "batch_only":
        raise ReplayError(f"{id_} shows only in a static graph that other cases share: run its test again, {test}")
    needed = ranks_needed(stored.program)
    if needed > 1:
        raise ReplayError(
            f"{id_} has tensors on {needed} ranks: run its test again, autotest run {test} --ranks {needed}"
        )
    return stored


def graph_log(
    id_: str,
    report: Path,
    target: str | None,
    timeout: float | None,
    level: int,
    ranks: Sequence[int],
    python: str | None = None,
) -> str:
    """How the target builds a static graph of the stored Program of divergence `id_`. Raises ReplayError."""
    from autotest.commands.replaying.graph_debug import debug_log

    path = find(id_, report)
    row = read(path).row
    launched = launch(target or row["target"], python or (row.get("target_python") if target is None else None))
    if launched.python is not None:
        raise ReplayError(
            f"the target {launched.target} runs in {launched.python}, and --graph-debug builds its graph with this "
            "interpreter: replay it without --graph-debug"
        )
    return debug_log(path, launched.loads, level, ranks, timeout)
