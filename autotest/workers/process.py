"""A process that was started, as far as its worker deals with it: `subprocess.Popen[bytes]` is one."""

from __future__ import annotations

from typing import IO, Protocol


class Process(Protocol):
    """A process with three pipes."""

    pid: int
    stdin: IO[bytes] | None
    stdout: IO[bytes] | None
    stderr: IO[bytes] | None

    def poll(self) -> int | None:
        """Its exit status, below zero for a signal; None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Its exit status, once it has ended. Raises subprocess.TimeoutExpired after so many seconds."""

    def kill(self) -> None:
        """Send SIGKILL, where it still runs."""


__all__ = ["Process"]
