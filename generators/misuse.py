"""Uses of a generator as if it were its value: refused, for Python's own answer would be wrong or say nothing of it."""

from collections.abc import Callable
from typing import Any, Final

from generators.errors import UseError

#: Operators of two that no generator stands for; all but the comparisons have a reflected form.
_COMPARISONS: Final = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
_ARITHMETIC: Final = {
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "matmul": "@",
    "and": "&",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
}
#: What has no other operand, or one that is put in braces.
_CALLS: Final = {
    "pos": "+{0}",
    "abs": "abs({0})",
    "invert": "~{0}",
    "int": "int({0})",
    "float": "float({0})",
    "complex": "complex({0})",
    "index": "{0} as an integer",
    "len": "len({0})",
    "iter": "iter({0})",
    "round": "round({0})",
    "trunc": "math.trunc({0})",
    "floor": "math.floor({0})",
    "ceil": "math.ceil({0})",
    "format": "{0} as text",
    "getitem": "{0}[{1}]",
    "contains": "{1} in {0}",
}


def refuse_misuse(cls: type, takes_over: Callable[[object], bool], spell: Callable[[object], str]) -> None:
    """Have a class of generators answer each of these by a UseError, unless the other operand `takes_over`; `spell`
    gives an operand as it is written.
    """

    def error(generator: object, form: str, *others: object) -> UseError:
        use = form.format(*map(spell, (generator, *others)))
        return UseError(f"{generator!r} is a generator, but should be a value here: ask its .value() [{use}]")

    def binary(form: str) -> Callable[[object, object], Any]:
        def refuse(self: object, other: object) -> Any:
            if takes_over(other):
                return NotImplemented
            raise error(self, form, other)

        return refuse

    def call(form: str) -> Callable[..., Any]:
        def refuse(self: object, *others: object) -> Any:
            raise error(self, form, *others)

        return refuse

    for name, symbol in (_COMPARISONS | _ARITHMETIC).items():
        setattr(cls, f"__{name}__", binary(f"{{0}} {symbol} {{1}}"))
    for name, symbol in _ARITHMETIC.items():
        setattr(cls, f"__r{name}__", binary(f"{{1}} {symbol} {{0}}"))
    for name, form in _CALLS.items():
        setattr(cls, f"__{name}__", call(form))
    setattr(cls, "__hash__", object.__hash__)  # noqa: B010 - mypy knows better; who says what equality is loses it
