"""A TypeError of the reference's: the call is mistaken where every draw ends in one, and refused where only some do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from autotest.cases.places import users_lines
from autotest.errors import UsageError
from generators import Drawing, DrawnArray, Generator

#: So many draws without an accepted one are enough where no other draw could mend the call.
MISTAKEN_DRAWS = 3

#: What Python and PyTorch say of a call by its keywords, the number and the types of its arguments alone.
_OF_THE_FORM = re.compile(
    r"unexpected keyword argument|invalid combination of arguments|positional argument|multiple values for "
    r"|must be .+, not |unsupported operand type"
)
#: What PyTorch says of an argument that it does not know.
_NOT_DUAL = re.compile(r"\b(?:not|got) DualObject\b|invalid combination(?s:.*)\bDualObject\b")


@dataclass(frozen=True, slots=True)
class Mistake:
    """What led to a TypeError and its whole message. `lasting`: it is about the form of the call, and the draw has
    decided nothing but sizes and values, so that any other draw is bound to end in it, too.
    """

    text: str
    lasting: bool


def mistake(raised: BaseException, own: BaseException, drawn: Drawing) -> Mistake | None:
    """The mistake behind what a body was shown (`raised`) for the reference's `own` exception; None for another one."""
    if not isinstance(own, TypeError):
        return None
    plain = all(_number(generator, value) for generator, value in drawn.values.items())
    return Mistake(
        f"{users_lines(raised.__traceback__)}{type(own).__name__}: {own}",
        plain and _OF_THE_FORM.search(str(own)) is not None,
    )


def unrecorded(error: Exception) -> Exception:
    """What to raise for an exception of the body: where PyTorch's own function or module was given a dual object, which
    it cannot know, a sentence with the way out.
    """
    if not isinstance(error, TypeError) or not _NOT_DUAL.search(str(error)):
        return error
    said = str(error).partition("\n")[0]
    return UsageError(
        "PyTorch's own function was given a dual object, but should be called through autotest's `torch`, and a module "
        f"class of the test derive from its torch.nn.Module: {said}"
    )


def _number(generator: Any, value: object) -> bool:
    """Whether a value is a number, a tensor's content or several of them in every draw: no flag, dtype or function, and
    none of several alternatives.
    """
    if isinstance(generator, Generator) and generator.size() > 1:
        return False
    parts = value if isinstance(value, (tuple, list)) else (value,)
    return all(type(part) in (int, float) or isinstance(part, DrawnArray) for part in parts)
