"""Random numbers, booleans and what annotations build from them."""

import math
from typing import Any, Final

from generators import annotations, checks
from generators.drawing import current_drawing
from generators.errors import AnnotationError
from generators.generator import Generator, pack, spelled
from generators.source import Source

_UNKNOWN: Final = object()


class Random(Generator):
    """A value of the annotated type whose numbers lie in [low, high)."""

    __slots__ = ("_annotation", "_high", "_low")

    def __init__(self, low: object, high: object) -> None:
        """Takes the ends of the range, values or generators."""
        self._low = pack(low)
        self._high = pack(high)
        super().__init__(self._low, self._high)
        self._annotation: object = _UNKNOWN

    def annotate(self, annotation: object) -> None:
        """Keeps the first annotation: for good outside a case, for this case inside one."""
        if self._annotation is not _UNKNOWN:
            return
        drawing = current_drawing.get(None)
        if drawing is None:
            self._annotation = annotation
        else:
            drawing.annotations.setdefault(self, annotation)
        super().annotate(annotations.bound(annotation))

    def draw(self, source: Source) -> Any:
        """A value of the annotated type; AnnotationError without a usable type, RangeError when empty."""
        annotation = self._annotation
        if annotation is _UNKNOWN:
            annotation = self._annotated_in_case()
        if annotation is int:  # by far the commonest
            return self._scalar(int, source)
        return annotations.draw(annotation, source, self._scalar, self)

    def _annotated_in_case(self) -> object:
        drawing = current_drawing.get(None)
        annotation = _UNKNOWN if drawing is None else drawing.annotations.get(self, _UNKNOWN)
        if annotation is _UNKNOWN:
            raise AnnotationError(
                f"{self!r} has no type, but should have one: call .to(int), .to(float) or .to(bool), "
                "or pass it to a parameter whose type is known"
            )
        return annotation

    def _scalar(self, scalar: annotations.Scalar, source: Source) -> int | float:
        if scalar is bool:
            return source.boolean()
        low = checks.number(self._low.value(), "low", self)
        high = checks.number(self._high.value(), "high", self)
        if scalar is float:
            if not low < high:
                raise checks.empty_range(low, high, self)
            return source.floating(low, high)
        first, end = math.ceil(low), math.ceil(high)
        if not first < end:
            raise checks.empty_range(first, end, self)
        return source.integer(first, end)

    def __repr__(self) -> str:
        """The call that made it."""
        return f"random({spelled(self._low)}, {spelled(self._high)})"


class RandomBool(Generator):
    """A fair coin, whatever it is annotated with."""

    __slots__ = ()

    def draw(self, source: Source) -> bool:
        """True or False."""
        return source.boolean()

    def __repr__(self) -> str:
        """The call that made it."""
        return "random_bool()"


def random(low: object = 1, high: object = 6) -> Random:
    """A value whose type is named by `.to(annotation)` or by the parameter that it is passed to.

    int: an integer of [low, high), float ends rounded up. float: of [low, high). bool: a fair coin. None:
    None. Unions, tuples, lists and Literals as in `generators.annotations`. `low` and `high` may be
    generators.
    """
    return Random(low, high)


def random_bool() -> RandomBool:
    """True or False with equal probability."""
    return RandomBool()
