"""Sizes of dimensions: small ones by chance, and in a laid-out case each one that kernels are chosen by."""

from typing import Final

from generators.drawing import current_drawing
from generators.generator import Generator
from generators.source import MASK, Source

#: A vector and a bit, a block and a bit, several blocks and a bit: kernels treat the rest of a block by itself.
LONG: Final = (33, 129, 1025)
#: What a laid-out size can be; None: an ordinary one.
SIZES: Final = (None, 1, 0, *LONG)


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


def laid_out_size(source: Source, low: int, high: int) -> int:
    """One of `SIZES`, its ordinary sizes drawn from [low, high). Only one dimension of a case is long."""
    size = SIZES[source.index(len(SIZES))]
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
