"""A contract: a sentence of a target's documentation, and the function that takes the framework and asserts it.

What the function comes to is found out here, in the target's process.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, Literal

import pytest

from dual_object.replay.observation import class_names, first_words

#: What a target makes of a sentence.
#:
#: - `kept`: it does what the sentence says.
#: - `broken`: it does something else.
#: - `unsupported`: what the sentence is about is not there.
#: - `skipped`: the function says that there is nothing to ask.
#: - `crash`, `timeout`, `out_of_memory`: it ends its process, or has to be ended with it.
Outcome = Literal["kept", "broken", "unsupported", "skipped", "crash", "timeout", "out_of_memory"]


@dataclass(frozen=True, slots=True)
class Contract:
    """A sentence as a test's file has it.

    Attributes:
        body: takes the framework and the test's parameters, and asserts.
        sentence: what is documented, in the words of whoever wrote the test.
        target: whose documentation it is: the name of a target, which is that of the package that people import.
        of: what of the framework the sentence is about, such as `nn.Graph.name`.
        gone: whether the target is known not to offer that any more.
        alone: whether it has a process for itself, which it may leave in any state.
    """

    body: Callable[..., None]
    sentence: str
    target: str
    of: str
    gone: bool = False
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of it: `detail` is what happened instead, `line` counts from the first one of the function's source."""

    outcome: Outcome
    detail: str = ""
    line: int | None = None


def answer(contract: Contract, framework: ModuleType, arguments: Mapping[str, Any]) -> Answer:
    """Call the contract's function, and say what that comes to."""
    try:
        contract.body(framework, **arguments)
    except pytest.skip.Exception as skip:
        return Answer("skipped", str(skip))
    except (Exception, pytest.fail.Exception) as error:
        line = _line(error, contract.body)
        if _lacks(error, framework):
            return Answer("unsupported", _raised(error), line)
        if not contract.gone:
            return Answer("broken", _happened(error, framework), line)
    if contract.gone:
        return Answer("broken", "it is there, though the test says that it is gone")
    return Answer("kept")


def _lacks(error: BaseException, framework: ModuleType) -> bool:
    """Whether the target says that what was asked of it is not there: an attribute of one of its objects, an argument
    of one of its functions, or all that a function would do. What is raised deeper inside of the target is none of
    that, unless it says so itself.
    """
    if isinstance(error, NotImplementedError):
        return True
    if isinstance(error, TypeError):
        return "unexpected keyword argument" in str(error) and not _inside(framework, [*_frames(error)][-1])
    if not isinstance(error, AttributeError):
        return False
    frames = [frame for frame in _frames(error) if frame.f_code.co_name not in ("__getattr__", "__getattribute__")]
    return not _inside(framework, frames[-1])


def _frames(error: BaseException) -> Iterator[FrameType]:
    """The frames that an exception has come through, the one that raised it last."""
    return (frame for frame, _ in traceback.walk_tb(error.__traceback__))


def _inside(framework: ModuleType, frame: FrameType) -> bool:
    """Whether it is the framework's own code that runs in a frame."""
    file = framework.__file__
    assert file is not None, "it was imported from a file"
    here = Path(file)
    code = Path(frame.f_code.co_filename)
    return code.is_relative_to(here.parent) if here.name == "__init__.py" else code == here


def _happened(error: BaseException, framework: ModuleType) -> str:
    """What happened, in words: an assertion of the test's own says itself what was compared, in several lines."""
    if isinstance(error, pytest.fail.Exception) and str(error).startswith("DID NOT RAISE"):
        return "nothing is raised"
    own = isinstance(error, (AssertionError, pytest.fail.Exception)) and not _inside(framework, [*_frames(error)][-1])
    text = str(error).strip() if own else ""
    # A message of its own says enough; and what begins with a plus tells where a value comes from, with addresses.
    lines = [line.strip() for line in text.partition("\nassert ")[0].splitlines()]
    return "; ".join(line for line in lines if line and not line.startswith("+"))[:400] or _raised(error)


def _raised(error: BaseException) -> str:
    return f"{class_names(error)[0]}: {first_words(error)}"


def _line(error: BaseException, body: Callable[..., None]) -> int | None:
    """The line of the function's source that it has got to."""
    own = body.__code__
    lines = [number for frame, number in traceback.walk_tb(error.__traceback__) if frame.f_code is own]
    return lines[-1] - own.co_firstlineno + 1 if lines else None


__all__ = ["Answer", "Contract", "Outcome", "answer"]
