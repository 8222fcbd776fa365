"""The deadline of a body: a loop that never ends for some draw is an error, and not waited for."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from autotest.errors import BodyTimeoutError


class _Overdue(BaseException):
    """The alarm; a body that catches every Exception does not catch it."""


@contextmanager
def deadline(seconds: float | None, case: str) -> Iterator[None]:
    """End what runs inside after so many seconds (None: never); raises BodyTimeoutError, which names the case.

    It ends Python code, between two ops. In another thread than the main one, and beside an alarm of somebody else's,
    there is no deadline.
    """
    main = threading.current_thread() is threading.main_thread()
    if seconds is None or not main or not hasattr(signal, "setitimer") or any(signal.getitimer(signal.ITIMER_REAL)):
        yield
        return
    armed = True

    def ring(*_: object) -> None:
        if armed:
            raise _Overdue

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    except _Overdue:
        raise BodyTimeoutError(
            f"{case}: the body did not end within {seconds:g} s on PyTorch: "
            "let every draw end it, or give it longer [--case-timeout]"
        ) from None
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
