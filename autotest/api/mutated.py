"""`mutated`: a call that a program made, otherwise."""

from __future__ import annotations

import ast
import functools
from typing import Any, Final

import autotest
from autotest.errors import UsageError
from autotest.expressions import Expression, ExpressionError, parse
from autotest.expressions.mutation import mutate
from dual_object.errors import UnknownName
from dual_object.record.namespace import torch
from dual_object.record.recording import recording
from generators.drawing import current_drawing
from generators.source import PhiloxSource

#: A draw from so many numbers is no factor of a design: the corners of a test are those of its tensors.
SEEDS: Final = 1 << 32
#: A call is changed at most so often; one of four is made as it is.
MOST: Final = 3


def mutated(*calls: str) -> Any:
    """Makes one of some calls as it is, or otherwise: with a size of 0, of 1, or a long one, with another rank, dtype,
    layout or range of values, without a keyword or with one that another of the calls has, with other numbers, or with
    another op of its family. What PyTorch refuses of that is a refused draw, as any other.

    Args:
        calls: of one op, as `autotest check` takes them and `autotest trace` writes them:
            `torch.softmax(x[2, 3], dim=-1)`.

    Returns what the call gives.

    Raises OutsideCaseError, ExpressionError, UsageError for no calls, and for one with given values.
    """
    record = recording("mutated()")
    if not calls:
        raise UsageError("mutated() has no call, but should have at least one, such as 'torch.relu(x[2, 3])'")
    draws = PhiloxSource(str(current_drawing.get().source.integer(0, SEEDS)))

    def below(count: int) -> int:
        return draws.integer(0, count)

    chosen = calls[below(len(calls))]
    text, expression = chosen, parse(chosen)
    for _ in range(below(MOST + 1)):
        text = mutate(text, calls, below)
        try:
            changed = parse(text)
        except ExpressionError:  # such as six sizes: what it was before is a call at least
            break
        if not _there(changed, record.reference.tensor_type):
            break
        expression = changed
    if expression.pinned:
        raise UsageError(f"{chosen} has given values, but should have drawn ones, such as x[2, 3] [mutated(...)]")
    names = {"torch": torch, **{name: getattr(autotest, name) for name in expression.uses}}
    for name, code in expression.bindings.items():
        names[name] = _value(code, names)
    return _value(expression.returned, names)


def _there(expression: Expression, tensor_type: type) -> bool:
    """Whether PyTorch has what an expression calls last: families are the same for functions and methods, and not every
    op is both.
    """
    node = ast.parse(expression.returned, mode="eval").body
    function = node.func if isinstance(node, ast.Call) else None
    if not isinstance(function, ast.Attribute):
        return True
    home, *path = ast.unparse(function).split(".")
    if home != "torch" or not all(map(str.isidentifier, path)):
        return hasattr(tensor_type, function.attr)
    try:
        functools.reduce(getattr, path, torch)
    except (AttributeError, UnknownName):
        return False
    return True


def _value(code: str, names: dict[str, Any]) -> Any:
    """What an expression means that the grammar has written: generators, inputs and the framework are all it names."""
    return eval(code, {"__builtins__": {"float": float, "int": int, "bool": bool}}, names)  # noqa: S307


__all__ = ["mutated"]
