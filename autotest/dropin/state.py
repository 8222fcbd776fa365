"""What a drop-in run keeps beside its session: the registries that test files add to, and what was profiled."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Optional, Tuple  # noqa: UP035

#: A device and its number of threads, None where threads do not count.
Hardware = Tuple[str, Optional[int]]  # noqa: UP006, UP045 - compared with by test files


def _as_it_is(result: Any) -> Any:
    return result


@dataclass(slots=True)
class State:
    """The registries of one pytest process, under the names that OneFlow's harness has for them.

    Attributes:
        checkers: by the pair of types that they compare.
        generators, converters: by annotation or type.
        profiled: names of the ops whose calls are timed just now.
        hardware, frameworks: what they are timed on.
        hook: takes the results.
        tables: the results in words, for the end of the run.
    """

    checkers: dict[tuple[type, type], Callable[..., bool]] = field(default_factory=dict)
    generators: dict[Any, Callable[[], Any]] = field(default_factory=dict)
    converters: dict[type, Callable[[Any], Any]] = field(default_factory=dict)
    profiled: list[str] = field(default_factory=list)
    hardware: list[Hardware] = field(default_factory=lambda: [("cpu", 1), ("cuda", None)])
    frameworks: list[str] = field(default_factory=lambda: ["oneflow", "pytorch"])
    hook: Callable[[list[Any]], Any] = _as_it_is
    tables: list[str] = field(default_factory=list)


current_state: ContextVar[State] = ContextVar("current_state")


def state() -> State:
    """The state of this process, made when it is first asked for."""
    try:
        return current_state.get()
    except LookupError:
        made = State()
        current_state.set(made)
        return made
