"""A Program whose calls are those that a target's table makes of them, to be printed in the target's own words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from autotest.repro.unscripted import Unscripted
from dual_object.adapters.dialect import Row
from dual_object.program.calls import Call
from dual_object.program.program import Program
from dual_object.program.values import refs

_METHODS = "Tensor."


def translated(program: Program, rows: Mapping[str, Row]) -> Program:
    """The Program with the target's names and arguments; raises Unscripted where these are no plain calls."""
    return replace(program, calls=[_call(call, rows) for call in program.calls])


def _call(call: Call, rows: Mapping[str, Row]) -> Call:
    if call.kind == "operator":
        return call
    if call.kind not in ("function", "method"):
        raise Unscripted(f"the target's table says nothing of {call.op}, which is no function and no method")
    if call.raises:
        raise Unscripted("PyTorch refuses a call of it, and a script runs the target alone")
    method = call.kind == "method"
    row = (rows.get(_METHODS + call.op) if method else None) or rows.get(call.op)
    if row is None:
        raise Unscripted(f"the target's table has no row for {call.op}")
    if row.code:
        raise Unscripted(f"the target's table calls {call.op} by a function of its own, {row.code}")
    given = call.args[1:] if method and row.path.startswith(_METHODS) else call.args
    try:
        args, kwargs = row.told(tuple(given), dict(call.kwargs))
    except (NotImplementedError, TypeError) as error:
        raise Unscripted(f"the target's table has no words for it: {error}") from None
    if row.target.startswith(_METHODS):
        return replace(call, kind="method", op=row.target[len(_METHODS) :], args=(call.args[0], *args), kwargs=kwargs)
    receiver = call.args[:1] if method and row.path.startswith(_METHODS) else ()
    return replace(call, kind="function", op=row.target, args=(*receiver, *args), kwargs=kwargs)


def returned(program: Program) -> list[int]:
    """Numbers of the tensors that the body returned, each once."""
    return [*dict.fromkeys(refs(program.outputs))]


__all__ = ["returned", "translated"]
