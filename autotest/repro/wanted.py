"""What a script is to show of its Program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from autotest.compare.fingerprint import configuration_of
from autotest.compare.kinds import DEADLY, NUMBERS, PHASES, RAISES

#: Kinds that say that the target ended, or refused, before there was anything to compare.
_ENDED = RAISES | DEADLY | {"structure"}
#: The part in which numbers of a step's phase are wrong, where there is but one.
_PARTS: Mapping[str, str] = {"backward": "gradient", "second": "second", "state": "buffer"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a script is to show.

    Attributes:
        kind, op: of the divergence.
        part: the part of an observation, such as `gradients`, whose values are shown.
        key: the one value of it to show, such as `3.weight`; all of them where this is empty.
        call: index of the blamed call; None where no single call is blamed.
        backward, second: gradients are asked for, and those differentiated again.
        graph: in a static graph.
        facts: what the fingerprint says that it needs, among these the name of a buffer.
        configuration: the name of that which the graph is built under; empty: of none.
    """

    kind: str
    op: str
    part: str | None
    key: str
    call: int | None
    backward: bool
    second: bool
    graph: bool
    facts: frozenset[str]
    configuration: str = ""

    @property
    def again(self) -> bool:
        """At the second call of the graph, which is given other values."""
        return "again" in self.facts


def wanted(row: Mapping[str, Any], shown: Mapping[str, Any] | None) -> Wanted:
    """What the script of a divergence shows: `row` is as the records have it, `shown` the part, key and call in which
    its Program is known to show it (None: unknown).
    """
    phase, kind = PHASES[row["phase"]], row["kind"]
    graph = phase.mode == "graph"
    part = None if shown is None else shown["part"]
    if kind == "random":
        part = "output"
    if part is None and kind in NUMBERS:
        part = _PARTS.get(phase.step)
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
        graph=graph,
        facts=frozenset(row["fingerprint"].rpartition("/")[2].split(",")),
        configuration=configuration_of(row["fingerprint"]),
    )


class Result(NamedTuple):
    """What a script shows: its name, and its expression. Without a name the expression is a dict of such. `plain`: a
    value of Python's own, not a tensor.
    """

    name: str
    expression: str
    plain: bool = False

    def item(self) -> str:
        """As a part of a dict."""
        return f'"{self.name}": {self.expression}' if self.name else f"**{self.expression}"
