"""One of several arguments, each of them in turn, no argument at all, and several arguments as one tuple."""

import builtins
from collections.abc import Sequence
from typing import Any, Final

from generators import annotations, checks
from generators.drawing import current_drawing
from generators.errors import ChoiceError
from generators.generator import Alternatives, Generator, pack, spelled
from generators.scalars import random
from generators.source import Source


class Nothing:
    """The value of an argument that is left out of the call; all instances are equal."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        """Whether `other` stands for no argument as well."""
        return isinstance(other, Nothing)

    def __hash__(self) -> int:
        """The same for all instances."""
        return hash(Nothing)

    def __repr__(self) -> str:
        """How it is made."""
        return "Nothing()"


_NOTHING: Final = Nothing()


class OneOf(Alternatives):
    """One of the given arguments, with the given probabilities."""

    __slots__ = ("_possibility",)

    def __init__(self, args: Sequence[object], possibility: float | Sequence[float] | None) -> None:
        """Takes what `oneof` takes; ChoiceError if the probabilities do not fit."""
        options = [pack(argument) for argument in args]
        super().__init__(options, None)
        self._possibility = possibility
        if not options:
            raise ChoiceError(f"args=(), but should be at least one alternative [{self!r}]")
        if possibility is None:
            return
        if isinstance(possibility, (int, float)):
            if len(options) != 2:
                raise ChoiceError(
                    f"possibility={possibility!r}, but should be a list of {len(options)} numbers, as "
                    f"one is for two alternatives [{self!r}]"
                )
            possibility = (possibility, 1 - possibility)
        self.weights = checks.weights(possibility, len(options), "possibility", self)

    def __repr__(self) -> str:
        """The call that made it."""
        arguments = [spelled(option) for option in self.children]
        if self._possibility is not None:
            arguments.append(f"possibility={self._possibility!r}")
        return f"oneof({', '.join(arguments)})"


class Each(Generator):
    """The given arguments, one after another."""

    __slots__ = ()

    def __init__(self, args: Sequence[object]) -> None:
        """Takes what `each` takes; ChoiceError if that is nothing."""
        super().__init__(*map(pack, args))
        if not args:
            raise ChoiceError("args=(), but should be at least one item [each()]")

    def draw(self, source: Source) -> Any:
        """The value of the item whose turn it is; no decision is taken."""
        return self.children[current_drawing.get().turn(len(self.children))].value()

    def size(self) -> int:
        """As many alternatives as there are items."""
        return len(self.children)

    def __repr__(self) -> str:
        """The call that made it."""
        return f"each({', '.join(map(spelled, self.children))})"


class NothingGenerator(Generator):
    """Always `Nothing`."""

    __slots__ = ()

    def draw(self, source: Source) -> Nothing:
        """The one `Nothing`; no decision is taken."""
        return _NOTHING

    def __repr__(self) -> str:
        """The call that made it."""
        return "nothing()"


class RandomOrNothing(Alternatives):
    """A random value, or with probability 1/3 no argument."""

    __slots__ = ("_high", "_low")

    def __init__(self, low: object, high: object) -> None:
        """Takes the range of the random value."""
        self._low = pack(low)
        self._high = pack(high)
        # Nothing comes first because a shrinker prefers the first alternative, and a call without the
        # argument is the simpler one.
        super().__init__((nothing(), random(self._low, self._high)), (1 / 3, 2 / 3))

    def __repr__(self) -> str:
        """The call that made it."""
        return f"random_or_nothing({spelled(self._low)}, {spelled(self._high)})"


class TupleGenerator(Generator):
    """A tuple of the values of its elements."""

    __slots__ = ()

    def annotate(self, annotation: object) -> None:
        """Gives each element its own part of a tuple's or list's annotation, else the whole of it."""
        for position, child in enumerate(self.children):
            child.to(annotations.element(annotation, position))

    def draw(self, source: Source) -> builtins.tuple[Any, ...]:
        """The values of the elements, in order."""
        return builtins.tuple(child.value() for child in self.children)

    def __repr__(self) -> str:
        """The call that made it."""
        return f"tuple({', '.join(map(spelled, self.children))})"


def oneof(*args: object, possibility: float | Sequence[float] | None = None) -> OneOf:
    """One of `args`, each a value or a generator; calling the result calls the drawn function.

    `possibility` is the probability of the first of two, or a list with one for each that sums to 1;
    ChoiceError if it is neither.
    """
    return OneOf(args, possibility)


def each(*args: object) -> Each:
    """`args` one after another, each a value or a generator: the first in case 0, the second in case 1.

    A test that uses it has as many cases as there are items, whatever its n; with several `each`, as many as there are
    combinations of their items. ChoiceError for no item.
    """
    return Each(args)


def nothing() -> NothingGenerator:
    """An argument that is left out of the call: its value is a `Nothing`."""
    return NothingGenerator()


def random_or_nothing(low: object, high: object) -> RandomOrNothing:
    """`random(low, high)` two times out of three, else `nothing()`."""
    return RandomOrNothing(low, high)


def tuple(*args: object) -> TupleGenerator:
    """A tuple of `args`, each a value or a generator."""
    return TupleGenerator(*map(pack, args))
