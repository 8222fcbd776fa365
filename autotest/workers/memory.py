"""How much memory a target worker may hold, and who sees to it.

The kernel's own limits do not fit: OneFlow reserves 4 GB of address space at import (RLIMIT_AS), and a target that is
refused memory (RLIMIT_DATA) raises whatever it raises then. What a process really holds is asked of it instead.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil

from autotest.workers.process import Process

#: The workers of a run share half of the memory: the other half is PyTorch's, and everybody else's.
SHARE = 0.5
#: What a worker gets however many there are, where half of the memory is that much: a healthy one grows to 2 GiB before
#: it is replaced.
LEAST = 4 << 30
#: Seconds between two looks, 20 microseconds each. A target fills fresh memory at 2 to 4 GB/s: it is met at most
#: 0.2 GB past its limit.
INTERVAL = 0.05


def memory_limit(asked: int | None, workers: int = 1) -> int | None:
    """The bytes that each of a run's workers may hold: as asked, where 0 stands for no limit (None); where nothing is
    asked, a share of the machine's.
    """
    if asked is not None:
        return asked or None
    half = int(machine_memory() * SHARE)
    return max(half // workers, min(half, LEAST))


def machine_memory() -> int:
    """The bytes of this machine, or of the least control group around this process."""
    return min([psutil.virtual_memory().total, *_group_limits(Path("/"))])


def _group_limits(root: Path) -> Iterator[int]:
    """The limits of this process's control groups, of either version, and of those around them; `root` is where /proc
    and /sys are.
    """
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:  # no Linux
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        mount, name = ("memory", "memory.limit_in_bytes") if controllers else ("", "memory.max")
        group = Path(path.lstrip("/"))
        # In a container the path may be the host's, where the mount shows the container's own group: then the root
        # alone is there.
        for part in (group, *group.parents):
            file = root / "sys/fs/cgroup" / mount / part / name
            text = file.read_text().strip() if file.is_file() else "max"
            if text.isdecimal():
                yield int(text)


def words(size: int, *, up: bool = False) -> str:
    """A size as people write it, `4 GiB`, `1.5 GiB`, rounded down or `up`: what is beyond a limit reads so."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            hundredths = 100 * size / unit
            # 1.1 GiB are no whole number of bytes, and are 1.1 GiB all the same.
            rounded = math.ceil(hundredths - 1e-4) if up else math.floor(hundredths + 1e-4)
            return f"{rounded / 100:g} {name}"
    return f"{size} bytes"


class Overrun(NamedTuple):
    """What a process held, and what it was allowed, in bytes."""

    held: int
    limit: int


class Watch:
    """Looks at a process, and kills it once it holds more than `limit` bytes (None: never); `overrun` says so then.

    What was started may be a stand-in for the process that works, which `follow` then names.
    """

    def __init__(self, process: Process, limit: int | None) -> None:
        self.limit = limit
        self.overrun: Overrun | None = None
        self._process = process
        self._looked_at: psutil.Process | None = None
        self.follow(process.pid)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        if limit is not None:
            self._thread.start()

    def follow(self, pid: int) -> None:
        """Look at this process from now on."""
        with suppress(psutil.NoSuchProcess):  # whoever reads its answer hears of its end
            self._looked_at = psutil.Process(pid)

    def size(self) -> int:
        """The bytes that the process holds now; 0 where it has ended."""
        if self._looked_at is None:
            return 0
        try:
            return int(self._looked_at.memory_info().rss)
        except psutil.Error:
            return 0

    def _watch(self) -> None:
        assert self.limit is not None
        while not self._over.wait(INTERVAL):
            size = self.size()
            if size > self.limit:
                self.overrun = Overrun(size, self.limit)
                self._process.kill()
                return

    def close(self) -> None:
        """Look no longer."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join(timeout=5)


__all__ = ["Watch", "machine_memory", "memory_limit", "words"]
