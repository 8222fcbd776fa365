"""`mutated`: a call that a program made, otherwise."""

from __future__ import annotations

from typing import Any, Final

from autotest.errors import UsageError
from autotest.expressions import ExpressionError, parse
from autotest.expressions.mutation import mutate
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
    recording("mutated()")
    if not calls:
        raise UsageError("mutated() has no call, but should have at least one, such as 'torch.relu(x[2, 3])'")
    draws = PhiloxSource(str(current_drawing.get().source.integer(0, SEEDS)))

    def below(count: int) -> int:
        return draws.integer(0, count)

    chosen = calls[below(len(calls))]
    expression = parse(chosen)
    text = chosen
    for _ in range(below(MOST + 1)):
        text = mutate(text, calls, below)
        try:
            expression = parse(text)
        except ExpressionError:  # such as six sizes: what it was before is a call at least
            break
    if expression.pinned:
        raise UsageError(f"{chosen} has given values, but should have drawn ones, such as x[2, 3] [mutated(...)]")
    import autotest

    names = {name: getattr(autotest, name) for name in ("torch", *expression.uses)}
    for name, code in expression.bindings.items():
        names[name] = _value(code, names)
    return _value(expression.returned, names)


def _value(code: str, names: dict[str, Any]) -> Any:
    """What an expression means that the grammar has written: generators, inputs and the framework are all it names."""
    return eval(code, {"__builtins__": {"float": float, "int": int, "bool": bool}}, names)  # noqa: S307


__all__ = ["mutated"]
