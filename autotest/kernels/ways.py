"""What a kernel may claim besides: that it is right where it is called in another way than plainly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from autotest.kernels.questions import Question
from dual_object.replay.asked.kernels import THREADS


class Way(NamedTuple):
    """How a kernel is called besides: its name, what of the claim it is, what it is in words, and the roles of the
    questions asked in it.
    """

    name: str
    detail: str
    words: str
    roles: frozenset[str]


#: So many questions are asked again in each way.
MOST_ASKED = 24
#: Whose calls are ordinary ones, of whatever tensors.
_ROLES = frozenset(["plain", "arguments", "layout", "shape", "size", "magnitude", "dtype"])
#: By what a kernel claims, the ways in which it is called then.
CLAIMS: Mapping[str, Sequence[Way]] = MappingProxyType(
    {
        "vmap": (
            Way("vmap 0", "over dimension 0:", "under torch.func.vmap over dimension 0", _ROLES),
            Way("vmap 1", "over dimension 1:", "under torch.func.vmap over dimension 1", _ROLES),
        ),
        "compile": (
            Way("compile", "by aot_eager:", "under torch.compile with aot_eager", _ROLES | {"again", "modes"}),
        ),
        "threads": (Way("threads", f"{THREADS} at once:", f"called on {THREADS} threads at once", _ROLES | {"modes"}),),
    }
)


def asked_in(way: Way, right: Sequence[Question]) -> list[Question]:
    """Which of the questions that were answered as they should be are asked again in a way: some of each role."""
    fit = [one for one in right if one.cell.role in way.roles and one.program.random is None and one.program.inputs]
    roles = dict.fromkeys(one.cell.role for one in fit)
    each = [[one for one in fit if one.cell.role == role] for role in roles]
    in_turn = [group[turn] for turn in range(MOST_ASKED) for group in map(_ends_first, each) if turn < len(group)]
    return in_turn[:MOST_ASKED]


def _ends_first(group: Sequence[Question]) -> Sequence[Question]:
    """Every third, then the others: what lies far apart comes first."""
    return [one for start in range(3) for one in group[start::3]]


__all__ = ["CLAIMS", "MOST_ASKED", "Way", "asked_in"]
