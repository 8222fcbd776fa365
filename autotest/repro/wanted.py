"""What a script is to show of its Program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from autotest.compare.kinds import DEADLY, PHASES, RAISES

#: Kinds that say that the target ended, or refused, before there was anything to compare.
_ENDED = RAISES | DEADLY | {"structure"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a script is to show: the results of one `part` of an observation, that of one `key` alone where it is known.

    `kind` and `op` are those of the divergence, `call` is the index of the blamed call. `backward`: gradients are asked
    for (`second`: twice). `graph`: in a static graph (`again`: at its second call, which is given other values).
    """

    kind: str
    op: str
    part: str | None
    key: str
    call: int | None
    backward: bool
    second: bool
    graph: bool
    again: bool


def wanted(row: Mapping[str, Any], shown: Mapping[str, Any] | None) -> Wanted:
    """By the row of a divergence, and what its Program is known to show of it (None: unknown)."""
    phase, kind = PHASES[row["phase"]], row["kind"]
    graph = phase.mode == "graph"
    part = None if shown is None else shown["part"]
    if kind == "random":
        part = "output"
    if kind in _ENDED and part != "host":
        part = "gradient" if phase.step == "backward" and not graph else "output"
    backward = phase.step in ("backward", "second") or kind in DEADLY
    if graph and kind in _ENDED:
        backward = True  # nobody knows which part of it the graph refused
    return Wanted(
        kind=kind,
        op=row["op"],
        part=part,
        key="" if shown is None or kind in _ENDED else shown["key"],
        call=None if shown is None else shown["call"],
        backward=backward,
        second=phase.step == "second",
        again=shown is not None and shown.get("again", False),
        graph=graph,
    )
