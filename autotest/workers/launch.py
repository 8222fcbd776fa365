"""How a target's process is started: with which interpreter, which adapter and which environment."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from autotest.names import HOME

#: What a run calls the version of its target's own interpreter, beside that of its own.
TARGET_PYTHON = "target's python"
#: Seconds in which a target must be imported.
START_TIMEOUT = 120.0
#: What an interpreter with packages of its own runs first.
_ELSEWHERE = Path(__file__).with_name("elsewhere.py")


@dataclass(frozen=True, slots=True)
class Launch:
    """A target's process.

    Attributes:
        target: what the target is called.
        adapter: what is loaded there, as `dual_object.replay.adapter.load` takes it; empty: what it is called.
        python: the interpreter, where it is not this process's own: one with packages of its own, which must be
            CPython 3.10 or newer with NumPy and psutil, and need not have PyTorch.
        environment: variables that it gets besides this process's own.
        start_timeout: seconds in which it must be imported.
        behind: what the command is put behind, such as a sandbox's; it must keep the descriptors that it is given.
    """

    target: str
    adapter: str = ""
    python: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    start_timeout: float = START_TIMEOUT
    behind: tuple[str, ...] = ()

    @property
    def loads(self) -> str:
        """What is loaded in the process."""
        return self.adapter or self.target

    @property
    def command(self) -> list[str]:
        """The server, as a command."""
        if self.python is None:
            return [*self.behind, sys.executable, "-m", "autotest.workers.server", self.loads]
        return [*self.behind, self.python, str(_ELSEWHERE), self.loads]

    @property
    def home(self) -> str | None:
        """Where the process starts: ours imports our packages from there; None: where this process is."""
        return str(HOME) if self.python is None else None

    @property
    def path(self) -> list[str] | None:
        """Where the process may import from, None: from where it does anyway."""
        return sys.path if self.python is None else None


__all__ = ["START_TIMEOUT", "TARGET_PYTHON", "Launch"]
