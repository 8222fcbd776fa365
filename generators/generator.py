"""The base of every generator, plain values as generators, and the operators that join generators."""

import operator
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar

from generators.drawing import current_drawing
from generators.errors import OutsideCaseError, TruthError, UseError
from generators.misuse import refuse_misuse
from generators.source import Source

Self = TypeVar("Self", bound="Generator")


class Generator:
    """An argument that gets its value when a case asks for it.

    In one case a generator has one value however often it is used, in the next case a fresh one. A subclass
    gives `draw`, `__repr__` (the call that made it) and, if it is made of other generators, passes them as
    `children`.
    """

    __slots__ = ("children",)

    def __init__(self, *children: "Generator") -> None:
        """Takes the generators that this one is made of."""
        self.children = children

    def to(self: Self, annotation: object) -> Self:
        """Names the type of the value, for the children too; the first one wins. Returns the generator."""
        self.annotate(annotation)
        return self

    def value(self) -> Any:
        """The value in the current case; OutsideCaseError when no case is being drawn."""
        drawing = current_drawing.get(None)
        if drawing is None:
            raise OutsideCaseError(
                f"{self!r} is used outside a case; generators have values only in the body of a test with @autotest() "
                "above it, not in a fixture or another thread"
            )
        return drawing.value_of(self)

    def __bool__(self) -> bool:
        """TruthError: what is always true would leave half of a test unrun."""
        raise TruthError(f"{self!r} is neither true nor false, but has a value in each case: ask its .value()")

    def draw(self, source: Source) -> Any:
        """A fresh value, every decision taken from `source`; called once in a case."""
        raise NotImplementedError(f"{type(self).__name__}.draw")

    def annotate(self, annotation: object) -> None:
        """Takes in what `to` was given; by default it is handed to the children."""
        for child in self.children:
            child.to(annotation)

    def size(self) -> int:
        """How many alternatives this counts for in `a | b`."""
        return 1

    def __add__(self, other: object) -> "Generator":
        """`self + other`, of the values."""
        return NotImplemented if _takes_over(other) else Sum(self, pack(other))

    def __radd__(self, other: object) -> "Generator":
        """`other + self`, of the values."""
        return Sum(pack(other), self)

    def __sub__(self, other: object) -> "Generator":
        """`self - other`, of the values."""
        return NotImplemented if _takes_over(other) else Difference(self, pack(other))

    def __rsub__(self, other: object) -> "Generator":
        """`other - self`, of the values."""
        return Difference(pack(other), self)

    def __mul__(self, other: object) -> "Generator":
        """`self * other`, of the values."""
        return NotImplemented if _takes_over(other) else Product(self, pack(other))

    def __rmul__(self, other: object) -> "Generator":
        """`other * self`, of the values."""
        return Product(pack(other), self)

    def __neg__(self) -> "Generator":
        """`-self`, of the value."""
        return Negation(self)

    def __or__(self, other: object) -> "Alternatives":
        """One of both, fair to all alternatives."""
        return Either(self, pack(other))

    def __ror__(self, other: object) -> "Alternatives":
        """One of both, fair to all alternatives."""
        return Either(pack(other), self)


def _takes_over(other: object) -> bool:
    """Whether `other` wants its own reflected operator (`__radd__`) called: it says so by `__array_ufunc__ = None`, as
    a dual tensor does, and as NumPy's scalars ask of operands.
    """
    return getattr(type(other), "__array_ufunc__", False) is None


class Constant(Generator):
    """A plain value as a generator; it decides nothing, so it has its value outside a case too."""

    __slots__ = ("plain",)

    def __init__(self, plain: object) -> None:
        """Takes the value."""
        self.children = ()
        self.plain = plain

    def to(self: Self, annotation: object) -> Self:
        """Changes nothing: the value is what it is. Returns the generator."""
        return self

    def value(self) -> Any:
        """The plain value, the same object each time."""
        return self.plain

    def draw(self, source: Source) -> Any:
        """The plain value; no decision is taken."""
        return self.plain

    def __repr__(self) -> str:
        """The call that made it."""
        return f"constant({self.plain!r})"


class Operation(Generator):
    """Two generators joined by an operator."""

    __slots__ = ("left", "right")
    symbol: ClassVar[str]
    join: ClassVar[Callable[[Any, Any], Any]]

    def __init__(self, left: Generator, right: Generator) -> None:
        """Takes the operands in the order of their writing."""
        super().__init__(left, right)
        self.left = left
        self.right = right

    def draw(self, source: Source) -> Any:
        """Both values joined; UseError where they are of types that Python does not join."""
        left, right = self.left.value(), self.right.value()
        try:
            return type(self).join(left, right)
        except TypeError:
            raise UseError(
                f"{self!r} has no value, for here it is {left!r} {self.symbol} {right!r}: "
                "ask .value() of its parts and convert those"
            ) from None

    def __repr__(self) -> str:
        """The call that made it."""
        return f"{operand(self.left)} {self.symbol} {operand(self.right)}"


class Sum(Operation):
    """`a + b`."""

    __slots__ = ()
    symbol = "+"
    join = operator.add


class Difference(Operation):
    """`a - b`."""

    __slots__ = ()
    symbol = "-"
    join = operator.sub


class Product(Operation):
    """`a * b`."""

    __slots__ = ()
    symbol = "*"
    join = operator.mul


class Negation(Generator):
    """`-a`."""

    __slots__ = ("inner",)

    def __init__(self, inner: Generator) -> None:
        """Takes the operand."""
        super().__init__(inner)
        self.inner = inner

    def draw(self, source: Source) -> Any:
        """The value with its sign changed."""
        return -self.inner.value()

    def __repr__(self) -> str:
        """The call that made it."""
        return f"-{operand(self.inner)}"


class Alternatives(Generator):
    """One of several generators; only the one that is drawn takes decisions of its own."""

    __slots__ = ("weights",)

    def __init__(self, options: Sequence[Generator], weights: Sequence[float] | None) -> None:
        """Takes the alternatives, and their weights unless all are equal."""
        super().__init__(*options)
        self.weights = weights

    def draw(self, source: Source) -> Any:
        """The value of the drawn alternative."""
        return self.children[source.index(len(self.children), self.weights)].value()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the drawn alternative, which should be a function."""
        return self.value()(*args, **kwargs)

    def size(self) -> int:
        """As many as the alternatives have together."""
        return sum(option.size() for option in self.children)


class Either(Alternatives):
    """`a | b`: each side as probable as it has alternatives, so that `a | b | c` is fair to all three."""

    __slots__ = ()

    def __init__(self, left: Generator, right: Generator) -> None:
        """Takes both sides, which may be alternatives themselves."""
        super().__init__((left, right), (left.size(), right.size()))

    def __repr__(self) -> str:
        """The call that made it."""
        return " | ".join(map(operand, self.children))


def constant(x: object) -> Constant:
    """A generator whose value is always `x`, even if `x` is a generator itself."""
    return Constant(x)


def pack(x: object) -> Generator:
    """`x` itself if it is a generator, else `constant(x)`."""
    return x if isinstance(x, Generator) else Constant(x)


def spelled(generator: Generator) -> str:
    """`generator` as it was written as an argument: a packed value is the value itself."""
    return repr(generator.plain) if isinstance(generator, Constant) else repr(generator)


def operand(generator: Generator) -> str:
    """`spelled`, in brackets if it would fall apart next to an operator."""
    compound = isinstance(generator, (Operation, Negation, Either))
    return f"({generator!r})" if compound else spelled(generator)


refuse_misuse(Generator, _takes_over, lambda x: operand(pack(x)))
