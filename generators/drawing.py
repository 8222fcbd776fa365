"""One case's draw: the source it draws from and what its generators have become."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, Protocol

from generators.mixes import PLAIN, Mix
from generators.source import Source


class Drawable(Protocol):
    """What a `Drawing` can give a value to; it is remembered by identity."""

    def draw(self, source: Source) -> Any:
        """A fresh value, every decision taken from `source`."""
        ...


class Drawing:
    """The draw of one case: a generator has one value in it, and another in the next.

    The memos keep their generators alive, so that the identity of one that is gone is never met again in this
    case. `annotations` holds the types that generators were given during the case: a generator built at
    module level must not carry what one case said about it into the next, or a case would depend on which
    ones ran before. `mix` says how wild tensors are, `index` which of its test's cases this is; `listed` is how
    many cases it takes until each item of what was listed so far has had its turn, None where nothing was;
    `stretched`, whether a laid-out case has its one long dimension: two of them could fill the memory.
    """

    __slots__ = ("annotations", "index", "listed", "mix", "source", "stretched", "values")

    def __init__(self, source: Source, mix: Mix = PLAIN, index: int = 0) -> None:
        """Starts with nothing drawn."""
        self.source: Final = source
        self.mix: Final = mix
        self.index: Final = index
        self.listed: int | None = None
        self.values: Final[dict[Drawable, Any]] = {}
        self.annotations: Final[dict[Drawable, object]] = {}
        self.stretched = False

    def value_of(self, generator: Drawable) -> Any:
        """The value of `generator` in this case, drawn when first asked for."""
        value = self.values.get(generator, _MISSING)
        if value is _MISSING:
            value = self.values[generator] = generator.draw(self.source)
        return value

    def turn(self, count: int) -> int:
        """Which of `count` listed items this case has. Cases go through all combinations of what is listed: of two
        and three items case 0 has (0, 0), case 1 (1, 0), case 2 (0, 1), and case 5 is the last.
        """
        before = self.listed or 1
        self.listed = before * count
        return self.index // before % count


_MISSING: Final = object()

current_drawing: Final[ContextVar[Drawing]] = ContextVar("current_drawing")


@contextmanager
def drawing(source: Source, mix: Mix = PLAIN, index: int = 0) -> Iterator[Drawing]:
    """Gives generators values from `source` inside the block; an enclosing drawing returns after it."""
    token = current_drawing.set(Drawing(source, mix, index))
    try:
        yield current_drawing.get()
    finally:
        current_drawing.reset(token)
