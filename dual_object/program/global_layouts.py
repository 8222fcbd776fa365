"""Global tensors, without a framework: what a Program says of them, and what stands for them on the reference.

A global tensor is one tensor that the processes of a run, its ranks, hold together: its placement names the ranks, its
sbp says for each dimension of the placement whether they hold slices, copies or summands. The reference has one
process. There a change of placement or sbp is a copy, for it changes no value, and a placement that a body reads is the
one that the Program gave.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeAlias

from dual_object.program.calls import Call
from dual_object.program.program import Program
from dual_object.program.values import Placement, Ref, Sbp, Tree, leaves

#: How a global tensor lies: its placement, and its sbp where the Program gave it.
Layout: TypeAlias = "tuple[Placement, tuple[Sbp, ...] | None]"

BROADCAST = Sbp("broadcast")

_in_scope: ContextVar[bool] = ContextVar("global_scope", default=False)


@contextmanager
def global_scope() -> Iterator[None]:
    """Inputs and modules that are made inside the block are global: a copy on every rank."""
    token = _in_scope.set(True)
    try:
        yield
    finally:
        _in_scope.reset(token)


def in_global_scope() -> bool:
    """Whether the running code is inside a `global_scope`."""
    return _in_scope.get()


def world_size() -> int:
    """How many ranks this process's run has, as its launcher says; 1 without one."""
    size = os.environ.get("WORLD_SIZE", "1")
    return int(size) if size.isdecimal() else 1


def own_rank() -> int:
    """This process's place among them, from 0."""
    rank = os.environ.get("RANK", "0")
    return int(rank) if rank.isdecimal() and world_size() > 1 else 0


def everywhere(device_type: str) -> Placement:
    """The placement of all ranks."""
    return Placement(device_type, tuple(range(world_size())))


def scope_layout() -> tuple[Placement, tuple[Sbp, ...]] | None:
    """How a new input lies: whole on all ranks inside a `global_scope`, None (local) outside of one."""
    return (everywhere("cpu"), (BROADCAST,)) if _in_scope.get() else None


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """Stands for a fact of a global tensor that only the target knows, such as the sbp of an op's result. A body cannot
    read it, but it can hand it on to another call.
    """

    name: str

    def __repr__(self) -> str:
        return f"<{self.name}, known to the target>"


def _moved(value: Any, *_: Any, **__: Any) -> Any:
    """A tensor's copy, which gradients flow through; of a module, the module itself."""
    return value.clone() if hasattr(value, "requires_grad") and hasattr(value, "clone") else value


#: The methods and functions of global tensors, as they are on the reference.
MOVES: Mapping[str, Callable[..., Any]] = dict.fromkeys(
    ("to_global", "to_local", "local_to_global", "global_to_global"), _moved
)
#: What can be read of a tensor, whether it is global or not, and of a global one.
READS = frozenset({"is_global", "placement", "sbp"})
#: Keywords that a target's functions take to make a global tensor, and the reference's do not.
KEYWORDS = frozenset({"placement", "sbp"})


def stand_in(program: Program, id_: int, value: Any, name: str) -> Any:
    """What attribute `name` of value `id_` is on the reference.

    Raises AttributeError where global tensors have none of that name, or the value is local.
    """
    if name in MOVES:
        move = MOVES[name]
        return lambda *args, **kwargs: move(value, *args, **kwargs)
    if name in READS:
        layout = layouts(program).get(id_)
        if name == "is_global":
            return layout is not None
        if layout is not None:
            placement, sbp = layout
            # Fresh objects: a recording tells values apart by identity.
            if name == "placement":
                return Placement(placement.type, placement.ranks)
            if sbp is not None:
                return tuple(Sbp(part.kind, part.dim) for part in sbp)
            return tuple(Kept(f"sbp[{axis}]") for axis in range(placement.ndim))
    raise AttributeError(f"{type(value).__name__!r} object has no attribute {name!r}")


def layouts(program: Program) -> dict[int, Layout]:
    """How each global value lies, by number. A call's results lie where it says, else where its first global operand
    does.
    """
    lying: dict[int, Layout] = {x.id: x.layout for x in program.inputs if x.layout is not None}
    for call in program.calls:
        layout = None if moves(call) == "to_local" else _layout(call, lying)
        for id_ in call.results():
            if layout is None:
                lying.pop(id_, None)
            else:
                lying[id_] = layout
    return lying


def moves(call: Call) -> str | None:
    """The name of the move that a call is, such as `to_global`; None for any other call."""
    name = call.op.rpartition(".")[2] if call.kind in ("function", "method") else ""
    return name if name in MOVES else None


def _layout(call: Call, lying: Mapping[int, Layout]) -> Layout | None:
    """How the results of a call lie."""
    operand = next((lying[id_] for id_ in call.operands() if id_ in lying), None)
    if moves(call) is None and not KEYWORDS & call.kwargs.keys():
        # An op may choose any sbp for its result; what a call gives back as it is keeps its own.
        kept = operand is not None and call.out == call.args[0] if call.args else False
        return operand if operand is None or kept else (operand[0], None)
    given = list(leaves((call.args, call.kwargs)))
    read = call.kwargs.get("placement")
    if type(read) is Ref and read.id in lying:  # `placement=y.placement`
        placement: Placement | None = lying[read.id][0]
    else:
        placement = next((leaf for leaf in given if type(leaf) is Placement), operand[0] if operand else None)
    if placement is None:
        return None
    sbp = tuple(leaf for leaf in given if type(leaf) is Sbp)
    return placement, sbp if len(sbp) == placement.ndim else None


def distributed(program: Program) -> bool:
    """Whether any tensor of the Program is global."""
    return any(x.layout is not None for x in program.inputs) or any(
        "placement" in call.kwargs or moves(call) is not None for call in program.calls
    )


def together(program: Program) -> bool:
    """Whether ranks run the Program together: its tensors are global, or they share the batches of its training."""
    return distributed(program) or (program.training is not None and program.training.ranks > 1)


def ranks_needed(program: Program) -> int:
    """How many ranks a run needs for the placements of the Program, or as many as share its batches."""
    trees: list[Tree] = [x.layout for x in program.inputs]
    trees += [(call.args, call.kwargs) for call in program.calls]
    placements = [leaf for leaf in leaves(trees) if type(leaf) is Placement]
    trained = 1 if program.training is None else program.training.ranks
    return max((max(placement.members) + 1 for placement in placements), default=trained)
