"""Work in a child process: what a kernel does to its process, the child takes with it."""

from __future__ import annotations

import os
import resource
import signal
import time
import traceback
from collections.abc import Callable
from contextlib import suppress

import psutil

#: What a child ends with. A kernel that ends its process has no reason to choose one of these.
YES, NO, BROKEN = 90, 91, 92
#: How much more memory than its parent a child may have: one kernel of the bank takes all that there is.
MEMORY = 2 << 30


def ended(work: Callable[[], bool], seconds: float) -> int | None:
    """How a child that does the work ends: `YES` or `NO` as it returns, `BROKEN` where it raises, what it chose itself,
    or less than zero for a signal; none where it did not end in time, and was killed.

    The child is forked, so that it need not import PyTorch anew: whoever calls this has one thread.
    """
    child = os.fork()
    if child == 0:
        code = BROKEN
        os.setsid()
        try:
            most = psutil.Process().memory_info().vms + MEMORY
            resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))
            code = YES if work() else NO
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(code)
    limit = time.monotonic() + seconds
    found = status = 0
    while not found and time.monotonic() < limit:
        found, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.01)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # and what it has started and left behind
    if found:
        return os.waitstatus_to_exitcode(status)
    os.waitpid(child, 0)
    return None
