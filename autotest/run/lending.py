"""The session that a test may have which is none of ours: it calls a function that is decorated by @autotest.

Nothing of a session is imported until one is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_lent: ContextVar[Callable[[], Any] | None] = ContextVar("lent", default=None)


@contextmanager
def lending(session: Callable[[], Any]) -> Iterator[None]:
    """While it lasts, who asks for a session has this one."""
    token = _lent.set(session)
    try:
        yield
    finally:
        _lent.reset(token)


def lent() -> Any:
    """The session that is lent; None where none is."""
    session = _lent.get()
    return None if session is None else session()
