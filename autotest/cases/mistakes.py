"""A TypeError of the reference's: the call is mistaken where every draw ends in one, and refused where only some do."""

from __future__ import annotations

import inspect
import re
import traceback
from dataclasses import dataclass
from types import FrameType
from typing import Any

from autotest.cases.places import is_users, users_lines
from autotest.errors import UsageError
from dual_object.errors import DualError
from dual_object.program.calls import Call
from dual_object.record.annotations import meant_keywords
from dual_object.record.dual import OF_AN_ARRAY
from generators import Drawing, DrawnArray, Generator

#: So many draws without an accepted one are enough where no other draw could mend the call.
MISTAKEN_DRAWS = 3

#: Where what a test imports is defined.
_OURS = ("autotest.", "generators.")
#: What Python and PyTorch say of a call by its keywords, the number and the types of its arguments alone.
_OF_THE_FORM = re.compile(
    r"unexpected keyword argument|invalid combination of arguments|positional argument|multiple values for "
    r"|must be .+, not |unsupported operand type"
)
#: What NumPy says of an argument that it does not know.
_NO_UFUNC = re.compile(r"'DualObject' does not support ufuncs")
#: What Python says of a keyword that a function has not.
_KEYWORD = re.compile(r"(?P<name>\w+)\(\) got an unexpected keyword argument")
#: What PyTorch says of an argument that it does not know.
_NOT_DUAL = re.compile(r"\b(?:not|got) DualObject\b|invalid combination(?s:.*)\bDualObject\b")
#: What other frameworks say of it: `must be tensor, not <class '...DualObject'>`.
_NOT_DUAL_ELSEWHERE = re.compile(r"\b(?:not|got)\b.*\bDualObject\b")
#: The colours in which OneFlow's messages come.
_COLOURS = re.compile(r"\x1b\[[\d;]*m")

#: What to do with an array that PyTorch does not take.
_OF_NUMPY = f"an array becomes a dual object by {OF_AN_ARRAY}"


@dataclass(frozen=True, slots=True)
class Mistake:
    """What led to a TypeError and its whole message. `lasting`: it is about the form of the call, and the draw has
    decided nothing but sizes and values, so that any other draw is bound to end in it, too.
    """

    text: str
    lasting: bool


def mistake(raised: BaseException, own: BaseException, drawn: Drawing, call: Call) -> Mistake | None:
    """The mistake behind what a body was shown (`raised`) for the reference's `own` exception of a `call`; None for
    another one.
    """
    if not isinstance(own, TypeError):
        return None
    plain = all(_number(generator, value) for generator, value in drawn.values.items())
    hints = [*meant_keywords(call.op, call.kwargs), *([_OF_NUMPY] if "numpy.ndarray" in str(own) else [])]
    meant = "".join(f"\n{one}" for one in hints)
    return Mistake(
        f"{users_lines(raised.__traceback__)}{type(own).__name__}: {own}{meant}",
        plain and _OF_THE_FORM.search(str(own)) is not None,
    )


def unrecorded(error: Exception) -> Exception:
    """What to raise for an exception of the body: where a function or module of PyTorch's own, or one of NumPy's, was
    given a dual object, which it cannot know, or one of ours a keyword that it has not, a sentence with the way out.
    """
    if not isinstance(error, TypeError):
        return error
    said = str(error).partition("\n")[0]
    if _NOT_DUAL.search(str(error)):
        return UsageError(
            "PyTorch's own function was given a dual object, but should be called through autotest's `torch`, and a "
            f"module class of the test derive from its torch.nn.Module: {said}"
        )
    if _NOT_DUAL_ELSEWHERE.search(said):
        return UsageError(
            "a function of the target's was given a dual object, but should be called through autotest's `torch`, as "
            f"torch.relu(x) for oneflow.relu(x): {_COLOURS.sub('', said)}"
        )
    if _NO_UFUNC.search(said):
        return _numpys("exp", said)
    takes = _parameters(error, said)
    return UsageError(f"{said}, but should be given some of {', '.join(takes)}") if takes else error


def numpys(error: Exception) -> Exception | None:
    """What to raise for a TypeError of a call that NumPy has made of a dual object, with arguments of its own:
    `numpy.sum(x)` calls `x.sum(axis=None, out=None)`. None for any other.
    """
    if not isinstance(error, TypeError):
        return None
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    modules = [str(frame.f_globals.get("__name__", "")) for frame in frames]
    called = next((at for at, module in enumerate(modules) if module.partition(".")[0] == "numpy"), len(modules))
    if not any(module.startswith("dual_object.") for module in modules[called:]):
        return None
    return _numpys(frames[called].f_code.co_name, str(error).partition("\n")[0])


def pytorchs(error: Exception) -> Exception | None:
    """What to raise for what came of a function or class of PyTorch's own that the body has given a dual object, and
    that has called it or refused it: `torch.nn.utils.clip_grad_norm_(m.parameters(), 1)` of PyTorch's own module asks
    `m.weight` for its gradient. None for any other, and where PyTorch says of an argument that it is none of its own.
    """
    if _NOT_DUAL.search(str(error)):
        return None
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    function = next((name for frame in frames if (name := _differentiating(frame))), "")
    if function and isinstance(error, DualError):
        return UsageError(
            f"{function}, an autograd.Function, was given a dual object, but should be joined with its counterpart by "
            f"dual(reference={function}.apply, target=...)"
        )
    modules = [str(frame.f_globals.get("__name__", "")) for frame in frames]
    users = [is_users(frame.f_code.co_filename) for frame in frames]
    own = (at for at in range(1, len(frames)) if users[at - 1] and modules[at].partition(".")[0] == "torch")
    called = next(own, len(frames))
    if called == len(frames):
        return None
    asks = any(module.startswith("dual_object.") for module in modules[called:])
    if not asks and "DualObject" not in str(error):
        return None
    # A function that is wrapped, as in `no_grad`, comes behind its private wrapper.
    public = (frame for frame in frames[called:] if not re.match("_[^_]", frame.f_code.co_name))
    frame = next(public, frames[called])
    made = frame.f_code.co_name.startswith("__") and "self" in frame.f_locals
    name = type(frame.f_locals["self"]).__name__ if made else frame.f_code.co_name
    said = "" if isinstance(error, DualError) else f": {str(error).partition(chr(10))[0]}"
    return UsageError(
        f"PyTorch's own {name} was given a dual object, but should be called through autotest's `torch`, or be joined "
        f"with its counterpart by dual(reference=..., target=...){said}"
    )


def _differentiating(frame: FrameType) -> str:
    """The class of an `autograd.Function` whose forward or backward runs in a frame; empty for any other frame."""
    names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
    context = type(frame.f_locals.get(names[0])) if names else object
    derives = any(base.__name__ == "FunctionCtx" for base in context.__mro__)
    return context.__name__.removesuffix("Backward") if derives else ""


def _numpys(function: str, said: str) -> UsageError:
    return UsageError(
        "a function of NumPy's was given a dual object, but should be called through autotest's `torch`, as "
        f"torch.{function}(x) for numpy.{function}(x): {said}"
    )


def _parameters(error: TypeError, said: str) -> list[str]:
    """What a function of ours takes that was called with another keyword; empty for anybody else's."""
    match, frames = _KEYWORD.match(said), [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    called: Any = frames[-1].f_globals.get(match["name"]) if match and frames else None
    ours = str(getattr(called, "__module__", "")).startswith(_OURS)
    return [*inspect.signature(called).parameters] if ours else []


def _number(generator: Any, value: object) -> bool:
    """Whether a value is a number, a tensor's content or several of them in every draw: no flag, dtype or function, and
    none of several alternatives.
    """
    if isinstance(generator, Generator) and generator.size() > 1:
        return False
    parts = value if isinstance(value, (tuple, list)) else (value,)
    return all(type(part) in (int, float) or isinstance(part, DrawnArray) for part in parts)
