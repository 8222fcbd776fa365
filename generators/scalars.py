"""Random numbers, booleans, sizes, and what annotations build from them."""

import math
from typing import Any, Final

from generators import annotations, checks
from generators.drawing import current_drawing
from generators.errors import AnnotationError
from generators.generator import Generator, pack, spelled
from generators.source import MASK, Source

_UNKNOWN: Final = object()
#: A vector and a bit, a block and a bit, several blocks and a bit: kernels treat the rest of a block by itself.
LONG: Final = (33, 129, 1025)
#: What a laid-out size can be; None: an ordinary one.
SIZES: Final = (None, 1, 0, *LONG)


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


class RandomSize(Generator):
    """The size of a dimension: an integer of [low, high)."""

    __slots__ = ("_high", "_low")

    def __init__(self, low: int, high: int) -> None:
        """Takes the ordinary sizes."""
        super().__init__()
        self._low = low
        self._high = high

    def draw(self, source: Source) -> int:
        """Of [low, high); in a laid-out case 0, 1 and long sizes, too."""
        drawing = current_drawing.get(None)
        if drawing is not None and drawing.mix.laid_out:
            return laid_out_size(source, self._low, self._high)
        return source.integer(self._low, self._high)

    def __repr__(self) -> str:
        """The call that made it."""
        return f"random_size({self._low}, {self._high})"


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


def laid_out_size(source: Source, low: int, high: int) -> int:
    """One of `SIZES`, its ordinary sizes drawn from [low, high). Only one dimension of a case is long."""
    size = SIZES[source.corner(len(SIZES))]
    drawing = current_drawing.get(None)
    if size in LONG and drawing is not None:
        if drawing.stretched:
            size = None
        drawing.stretched = True
    # A draw from so many numbers is no factor of a design.
    return low + source.integer(0, MASK) % (high - low) if size is None else size


def random_size(low: int = 1, high: int = 6) -> RandomSize:
    """The size of a dimension, an integer of [low, high). In the cases that are laid out before those that are drawn
    it is also 0, 1 and, once a case, 33, 129 or 1025, whatever the range: where the op is defined for them.
    """
    return RandomSize(low, high)
