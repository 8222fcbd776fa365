"""A stored Program as a target without modules was given it: a script that calls layers would not run there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from autotest.cases.store import Stored
from autotest.repro.script import Unscripted
from dual_object.errors import NotLowered
from dual_object.record.lowered import Lowering
from dual_object.record.lowering import lower
from dual_object.replay.adapter import load_reference


def as_sent(stored: Stored, lacks: Sequence[str]) -> Stored:
    """The Program with functions in place of its modules, and where it shows the divergence, if modules are among what
    the target `lacks`; else as it is. Raises Unscripted where it cannot be lowered here.
    """
    if "modules" not in lacks or not any(stored.program.modules()):
        return stored
    try:
        lowering = lower(stored.program, load_reference())
    except NotLowered as reason:
        raise Unscripted(f"the target has no modules: {reason}") from None
    shown = None if stored.shown is None else _shown(stored.shown, lowering)
    return replace(stored, program=lowering.program, shown=shown)


def _shown(shown: Mapping[str, Any], lowering: Lowering) -> Mapping[str, Any]:
    part, key, call = shown["part"], shown["key"], shown["call"]
    if part == "buffer" and key in lowering.buffers:  # the lowered Program returns it
        part, key = "output", str(lowering.buffers[key].number)
    elif part == "buffer" and key:  # a parameter that is written to
        part, key = "input", str(lowering.parameters[key].number)
    elif part in ("gradient", "second") and key:
        [key] = lowering.gradient_keys([key])
    elif key:
        key = str(lowering.number(int(key)))
    if call is not None:
        call = next((index for index, place in enumerate(lowering.places) if place.call == call), None)
    return {**shown, "part": part, "key": key, "call": call}


__all__ = ["as_sent"]
