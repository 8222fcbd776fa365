"""Type annotations as descriptions of what to draw.

torch's own (`_size_2_t` and its kin) are ordinary typing objects: a Union of an int and a tuple of ints. Of a
Union, members for which nothing can be drawn (`str`, a tensor type) are left out.
"""

import types
import typing
from collections.abc import Callable, Collection, Iterable, MutableSequence, Sequence
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args, get_origin

from generators.errors import AnnotationError
from generators.source import Source

Scalar = type[int] | type[float] | type[bool]

SCALARS: Final = (int, float, bool)
UNIONS: Final = (typing.Union, types.UnionType)
#: Names that somebody may give in place of the type.
NAMED: Final = ("int", "float", "bool")
LISTS: Final = (list, Sequence, MutableSequence, Collection, Iterable)


class Plan(NamedTuple):
    """How to draw one annotation: a scalar, one of `parts` or of plain `values`, or all parts together."""

    kind: Literal["scalar", "union", "literal", "tuple", "list"]
    scalar: Scalar = int
    parts: tuple["Plan", ...] = ()
    values: tuple[Any, ...] = ()


def drawable(annotation: object) -> bool:
    """Whether `draw` can give a value for `annotation`."""
    return _plan(annotation) is not None


def draw(annotation: object, source: Source, scalar: Callable[[Scalar, Source], Any], where: object) -> Any:
    """A value of the annotated type, its numbers and booleans from `scalar`; AnnotationError without one.

    A Union gives one of its drawable members, a tuple draws each element for itself (`tuple[T, ...]` has
    one), a list or sequence has one element, a Literal gives one of its values.
    """
    plan = _plan(annotation)
    if plan is None:
        way = "pass a value of that type instead of a generator"
        if annotation in NAMED:
            way = f"give the type, not its name: .to({annotation})"
        raise AnnotationError(
            f"annotation={typed(annotation)}, but should be int, float, bool, None, or a Union, tuple, list "
            f"or Literal of those [{where!s}]; {way}"
        )
    return _follow(plan, source, scalar)


def element(annotation: object, position: int) -> object:
    """What `annotation` says about the element at `position`: of `tuple[int, float]` at 1, `float`. One that is about
    no sequence is returned as it is.
    """
    origin = get_origin(annotation)
    if origin in UNIONS:
        for member in get_args(annotation):
            inner = element(member, position)
            if inner is not member:
                return inner
    elif origin is tuple:
        inners = _elements(annotation)
        if inners:
            return inners[min(position, len(inners) - 1)]
    elif origin in LISTS and get_args(annotation):
        return get_args(annotation)[0]
    elif origin is Annotated:
        return element(get_args(annotation)[0], position)
    return annotation


def bound(annotation: object) -> type[int] | type[float]:
    """The type for the ends of the range to draw from: float if a float may be drawn, else int."""
    if annotation is int:
        return int
    plan = _plan(annotation)
    return float if plan is not None and _draws_float(plan) else int


def typed(annotation: object) -> str:
    """`annotation` as it is written in code."""
    if isinstance(annotation, str):
        return repr(annotation)
    return annotation.__qualname__ if type(annotation) is type else str(annotation)


def _plan(annotation: object) -> Plan | None:
    """The plan for `annotation`, None if nothing can be drawn for it."""
    try:
        return _remembered(annotation)
    except TypeError:
        # Annotated[int, []] and the like have no hash; such a plan is made anew each time.
        return _made(annotation)


def _made(annotation: object) -> Plan | None:
    if annotation in SCALARS:
        return Plan("scalar", annotation)
    if annotation is None or annotation is type(None):
        return Plan("literal", values=(None,))
    origin = get_origin(annotation)
    if origin is Literal:
        return Plan("literal", values=get_args(annotation))
    if origin is Annotated:
        return _plan(get_args(annotation)[0])
    if origin in UNIONS:
        members = tuple(part for part in map(_plan, get_args(annotation)) if part is not None)
        return Plan("union", parts=members) if members else None
    if origin is tuple and annotation is not typing.Tuple:  # noqa: UP006  # the bare alias is meant
        elements = tuple(map(_plan, _elements(annotation)))
        return None if None in elements else Plan("tuple", parts=typing.cast(tuple[Plan, ...], elements))
    if origin in LISTS and get_args(annotation):
        part = _plan(get_args(annotation)[0])
        return None if part is None else Plan("list", parts=(part,))
    return None


# Reading a Union through `typing` costs 20 microseconds each time. What is kept is the plan of an annotation, which
# never changes.
_remembered: Final = lru_cache(maxsize=1024, typed=True)(_made)


def _follow(plan: Plan, source: Source, scalar: Callable[[Scalar, Source], Any]) -> Any:
    if plan.kind == "scalar":
        return scalar(plan.scalar, source)
    if plan.kind == "union":
        return _follow(_choose(plan.parts, source), source, scalar)
    if plan.kind == "literal":
        return _choose(plan.values, source)
    parts = [_follow(part, source, scalar) for part in plan.parts]
    return tuple(parts) if plan.kind == "tuple" else parts


def _choose(options: Sequence[Any], source: Source) -> Any:
    # A single option leaves nothing to decide, so no choice is recorded for it.
    return options[source.index(len(options))] if len(options) > 1 else options[0]


def _draws_float(plan: Plan) -> bool:
    return (plan.kind == "scalar" and plan.scalar is float) or any(map(_draws_float, plan.parts))


def _elements(annotation: object) -> tuple[object, ...]:
    """The annotations of a tuple's elements; one stands for any number of them."""
    inners = get_args(annotation)
    if inners == ((),):  # how Python 3.10 spells Tuple[()]
        return ()
    return inners[:1] if inners[1:] == (Ellipsis,) else inners
