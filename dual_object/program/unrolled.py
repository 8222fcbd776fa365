"""A Program in which the parts of each `nn.Sequential` are called one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from dual_object.program.calls import Call, op_name
from dual_object.program.program import Program
from dual_object.program.values import Ref, leaves


def unrolled(program: Program) -> Program | None:
    """`m1(m0(x))` in place of `m2(x)` where `m2 = Sequential(m0, m1)`; None where no Sequential is called.

    It does not say what of it is random, and does not know of a part that has been exchanged since (`m2[0] = m3`).
    """
    made = {id_: call for call in program.modules() for id_ in call.results()}
    if not any(_parts(call, made) for call in program.calls):
        return None
    free = program.free()

    def one_by_one(call: Call) -> Iterator[Call]:
        parts = _parts(call, made)
        if not parts:
            yield call
            return
        value = call.args[1]
        results = [*(Ref(next(free)) for _ in parts[1:]), call.out]
        for part, result in zip(parts, results, strict=True):
            yield from one_by_one(Call("call", op_name(made[part.id]), (part, value), {}, result))
            value = result

    return replace(program, calls=[step for call in program.calls for step in one_by_one(call)], random=None)


def _parts(call: Call, made: Mapping[int, Call]) -> list[Ref]:
    """The modules that a call of a Sequential calls; none where it is another call."""
    if call.kind != "call" or call.raises or call.kwargs or len(call.args) != 2 or not isinstance(call.args[0], Ref):
        return []
    sequential = made.get(call.args[0].id)
    if sequential is None or op_name(sequential) != "Sequential":
        return []
    parts = list(leaves(sequential.args))
    return parts if all(isinstance(part, Ref) and part.id in made for part in parts) else []


__all__ = ["unrolled"]
