"""The session that a test may have which is none of ours: it calls a function that is decorated by @autotest.

Nothing of a session is imported until one is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_lend: ContextVar[Callable[[Any, Any], Any] | None] = ContextVar("lend", default=None)


@contextmanager
def lending(lend: Callable[[Any, Any], Any]) -> Iterator[None]:
    """While it lasts, who asks for a session has what this makes of the running one, which may be None, and of the
    decorated function that asks, if one does.
    """
    token = _lend.set(lend)
    try:
        yield
    finally:
        _lend.reset(token)


def lent(running: Any, function: Any) -> Any:
    """The session that is lent where this one runs; that itself where none is."""
    lend = _lend.get()
    return running if lend is None else lend(running, function)
