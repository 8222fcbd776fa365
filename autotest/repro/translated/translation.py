"""A Program whose calls are those that a target's table makes of them, to be printed in the target's own words."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from autotest.repro.unscripted import Unscripted
from dual_object.adapters.dialect import Row
from dual_object.program.calls import Call
from dual_object.program.program import Program
from dual_object.program.values import Ref, refs

_METHODS = "Tensor."


def translated(program: Program, rows: Mapping[str, Row]) -> Program:
    """The Program with the target's names and arguments; raises Unscripted where these are no plain calls."""
    layers = {id_ for call in program.calls if call.kind == "module" for id_ in call.results()}
    return replace(program, calls=[_call(call, rows, layers) for call in program.calls])


def _call(call: Call, rows: Mapping[str, Row], layers: Collection[int]) -> Call:
    of_layer = call.kind in ("call", "method") and type(call.args[0]) is Ref and call.args[0].id in layers
    if call.kind == "operator":
        return call
    if call.kind not in ("function", "method", "module") and not of_layer:
        raise Unscripted(f"the target's table says nothing of {call.op}, which is no function and no method")
    if call.raises:
        raise Unscripted("PyTorch refuses a call of it, and a script runs the target alone")
    if of_layer:
        return call if call.kind == "call" else _switched(call)
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
    if call.kind == "module":
        return replace(call, op=row.target, args=args, kwargs=kwargs)
    if row.target.startswith(_METHODS):
        return replace(call, kind="method", op=row.target[len(_METHODS) :], args=(call.args[0], *args), kwargs=kwargs)
    receiver = call.args[:1] if method and row.path.startswith(_METHODS) else ()
    return replace(call, kind="function", op=row.target, args=(*receiver, *args), kwargs=kwargs)


def _switched(call: Call) -> Call:
    """A layer's `train` and `eval`, of which every framework's have the one without arguments."""
    if call.op not in ("train", "eval"):
        raise Unscripted(f"the target's table says nothing of a layer's {call.op}")
    given = [*call.args[1:], *call.kwargs.values()]
    return replace(call, op="train" if call.op == "train" and all(given) else "eval", args=call.args[:1], kwargs={})


def returned(program: Program) -> list[int]:
    """Numbers of the tensors that the body returned, each once."""
    return [*dict.fromkeys(refs(program.outputs))]


__all__ = ["returned", "translated"]
