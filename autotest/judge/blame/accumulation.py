"""Accumulation: whether what no call shows alone is nothing but errors that the tolerance allows, added up.

`log_softmax` over one element may give 1.4e-06 where 0 is right, and the sum of 129 of them is 1.8e-04. Each call is
right, the whole is not: nobody has promised that errors stay as small as they are.
"""

from __future__ import annotations

from dataclasses import replace

from autotest.compare.difference import Rules
from autotest.compare.divergence import Divergence
from autotest.compare.kinds import NUMBERS
from autotest.compare.observations import compare
from autotest.workers.alone import run_alone
from autotest.workers.protocol import Target
from dual_object.program.calls import Input
from dual_object.program.global_layouts import together
from dual_object.program.program import Program
from dual_object.program.values import refs
from dual_object.replay.adapter import Reference
from dual_object.replay.observation import Observation, Seen
from dual_object.replay.replay import Replay


def adds_up(reference: Reference, target: Target, divergence: Divergence, rules: Rules) -> bool:
    """Whether each call gives what the reference gives of the values that the target has before it, within tolerance.

    It is asked of numbers that an eager forward shows and no single call does, where nothing is written in place.
    """
    difference, program = divergence.difference, divergence.program
    if difference.phase != "eager_forward" or difference.kind not in NUMBERS or divergence.call is not None:
        return False
    if program.training is not None or program.random is not None or together(program) or _writes(program):
        return False
    modules = _modules(program)
    made = dict.fromkeys(id_ for call in program.calls for id_ in call.results() if id_ not in modules)
    watching = replace(program, watched=[*made], cotangents={}, second_cotangents={})
    shown = run_alone(target, watching)
    if not isinstance(shown, Observation) or not _as_before(program, shown, divergence.sides.eager):
        return False
    expected = _step_by_step(reference, watching, shown)
    return expected is not None and not compare(watching, expected, Observation(outputs=shown.outputs), rules)


def _writes(program: Program) -> bool:
    """Whether a call may change a value that is there before it: another that shares its memory would be told by what
    it is at the end. A module that gives itself, as `eval()` does, is no such value.
    """
    modules = _modules(program)
    return any(
        call.kind == "set" or call.out is None or ({*call.results()} & {*call.operands()}) - modules
        for call in program.calls
    )


def _modules(program: Program) -> set[int]:
    """The numbers of its modules."""
    return {id_ for call in program.modules() for id_ in call.results()}


def _as_before(program: Program, shown: Observation, before: Observation | None) -> bool:
    """Whether its outputs are the same, digit for digit, where all that leads to them is returned, too."""
    if before is None:
        return False
    pairs = ((shown.outputs.get(id_), before.outputs.get(id_)) for id_ in refs(program.outputs))
    return all(one and other and one.data.tobytes() == other.data.tobytes() for one, other in pairs)


def _step_by_step(reference: Reference, watching: Program, shown: Observation) -> Observation | None:
    """What the reference gives for each call where it goes on with what the target has `shown` for those before; None
    where a call raises.
    """
    replay = Replay(reference, watching, side="reference")
    for x in watching.inputs:
        replay.place(x)
    outputs: dict[int, Seen] = {}
    for index, call in enumerate(watching.calls):
        replay.step(index, call)
        if replay.seen.ended:
            return None
        for id_ in call.results():
            value, given = replay.values.by_id[id_], shown.outputs.get(id_)
            if given is None:
                continue
            dtype, shape, _, _ = reference.describe(value)
            [data] = reference.read([value])
            outputs[id_] = replace(given, dtype=dtype, shape=shape, data=data.copy())
            replay.place(Input(id_, "", given.data, given.dtype))
    return Observation(outputs=outputs)


__all__ = ["adds_up"]
