"""`autotest replay ID --pdb`: the target in this process, stopped before the diverging call."""

from __future__ import annotations

import pdb
import sys
from collections.abc import Mapping
from pathlib import Path

from autotest.cases.store import ReplayError, find, read
from autotest.judge.blame.localization import only_call
from autotest.options.targets import launch
from dual_object.errors import TargetError
from dual_object.program.printing import lines, names
from dual_object.program.program import Program
from dual_object.replay.adapter import load, load_reference
from dual_object.replay.replay import Replay


def step_through(id_: str, report: Path, target: str | None, python: str | None = None) -> None:
    """Run the stored Program of divergence `id_` on both sides up to the blamed call, and stop in pdb there.

    In scope are the values of both sides by the names that the printed Program has: `reference["x"]`, `target["x"]`,
    `program`, and `run_call()`, which runs the call on the target. Raises ReplayError, also where nobody can type.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ReplayError("--pdb stops and waits for what a person types, but this is no interactive terminal")
    stored = read(find(id_, report))
    program = stored.program
    name = target or stored.row["target"]
    launched = launch(name, python or (stored.row.get("target_python") if name == stored.row["target"] else None))
    if launched.python is not None:
        raise ReplayError(
            f"the target {name} runs in {launched.python}, and --pdb stops in this process: replay it without --pdb"
        )
    if stored.row.get("override") and name == stored.row["target"]:
        raise ReplayError(
            "its kernels run in a process of their own, and --pdb stops in this process: replay it without --pdb"
        )
    try:
        adapter = load(launched.loads)
    except TargetError as error:
        raise ReplayError(str(error)) from None

    call = diverging_call(program, stored.shown)
    sides = [Replay(load_reference(), program, side="reference"), Replay(adapter, program)]
    for side in sides:
        advance(side, call)
    _stop(program, call, *sides)


def diverging_call(program: Program, shown: Mapping[str, object] | None) -> int:
    """The index of the blamed call of a stored Program, as `shown` has it; that of the first one where none is
    blamed.
    """
    call = None if shown is None else shown.get("program_call")
    if isinstance(call, int) and call < len(program.calls):
        return call
    return only_call(program) or 0


def advance(side: Replay, call: int) -> None:
    """Run all calls before `call`. Raises ReplayError where a side does not come so far."""
    side.advance(call)
    if side.seen.ended:
        failure = side.seen.failures[-1]
        raise ReplayError(
            f"{side.adapter.name} ends before the diverging call: {failure.classes[0]}: {failure.message}"
        )


def scope(program: Program, call: int, reference: Replay, target: Replay) -> dict[str, object]:
    """What a person sees at the stop."""
    spelled = names(program)

    def named(side: Replay) -> dict[str, object]:
        return {spelled.get(id_, f"v{id_}"): value for id_, value in side.values.by_id.items()}

    # Not `step`: pdb would take that for its own command, as it does every name that it has one of.
    def run_call() -> dict[str, object]:
        """Run the diverging call on the target; its values by name."""
        target.step(call, program.calls[call])
        return named(target)

    return {"reference": named(reference), "target": named(target), "run_call": run_call, "program": program}


def _stop(program: Program, call: int, reference: Replay, target: Replay) -> None:
    [line] = [line.text.strip() for line in lines(program) if line.call == call] or [program.calls[call].op]
    sys.stdout.write(
        f"{program}\n\nbefore: {line}\nin scope: reference and target (values by name), program, and run_call(), "
        "which runs it on the target\n"
    )
    debugger = pdb.Pdb()
    debugger.run("run_call()", {**scope(program, call, reference, target)})
