"""Float64: whether a stored divergence stands where rounding hardly matters.

Its Program runs on both sides with every floating input, module state and cotangent in float64.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from autotest.compare.kinds import RAISES
from autotest.exits import CANNOT_RUN, GONE, STANDS
from dual_object.program.precision import WIDE, widened
from dual_object.replay.adapter import Reference
from dual_object.replay.replay import QuietReplay
from reports import failure_text

if TYPE_CHECKING:
    from dual_object.program.program import Program


def has_floats(program: Program) -> bool:
    """Whether anything of a Program becomes another in float64."""
    state = [str(array.dtype) for call in program.modules() for array in call.state.values()]
    return any(dtype in WIDE for dtype in (*(x.dtype for x in program.inputs), *state)) or not program.inputs


def in_float64(reference: Reference, program: Program) -> Program:
    """The Program in float64, what its calls gave to Python included. Raises CannotWiden.

    To be run where float64 is the default dtype.
    """
    wide = widened(program)
    read = QuietReplay(reference, wide, side="reference").run().hosts
    return replace(wide, calls=[replace(call, out=read.get(index, call.out)) for index, call in enumerate(wide.calls)])


def verdict(
    row: Mapping[str, Any], name: str, rows: Sequence[Mapping[str, object]], program: Program
) -> tuple[int, str]:
    """The exit status and what to print: `rows` are the divergences of the widened `program`, `row` the stored one."""
    id_ = row["id"]
    same = [other for other in rows if other["phase"] == row["phase"]]
    if any(all(other[part] == row[part] for part in ("kind", "op")) for other in same):
        return STANDS, f"{id_} stands in float64 too: {failure_text(same, cases=1)}"
    if row["kind"] not in RAISES:
        refused = next((other for other in rows if other["kind"] in RAISES), None)
        if refused is not None:
            return CANNOT_RUN, f"{id_} cannot be told: {name} has no float64 for it: {refused['message']}"
    if same:
        return STANDS, f"{id_} diverges in float64 too, but as something else: {failure_text(same, cases=1)}"
    return GONE, f"{id_} is gone in float64: {row['fingerprint']} is a matter of its dtype\n\n{program}"
