"""How a target's process is started: with which interpreter, which adapter and which environment."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from autotest.names import HOME
from autotest.workers.forking.forks import IMPORTED_WITHIN, Forks
from autotest.workers.process import Process

#: What a run calls the version of its target's own interpreter, beside that of its own.
TARGET_PYTHON = "target's python"
#: Seconds in which a target must be imported.
START_TIMEOUT = IMPORTED_WITHIN
#: What OneFlow imports of others once it has started threads: half of what is left to import then.
_OTHERS = (
    "cgitb",
    "doctest",
    "multiprocessing.connection",
    "multiprocessing.resource_sharer",
    "queue",
    "rich.console",
    "rich.table",
    "tqdm.auto",
    "urllib.request",
)
#: Of a target that starts threads while it is imported: what is imported before its processes are forked, and the call
#: in the middle of that before which they are, as `Forks` takes both.
FORKED: Mapping[str, tuple[tuple[str, ...], str]] = MappingProxyType(
    {
        "oneflow": (
            (*_OTHERS, "dual_object.adapters.oneflow.graph", "dual_object.adapters.oneflow.eager:import_oneflow"),
            "oneflow.framework.env_util:GetEnv",
        )
    }
)
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
        forks: what forks the process, in no interpreter but this process's own and behind nothing; None: it is started.
    """

    target: str
    adapter: str = ""
    python: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    start_timeout: float = START_TIMEOUT
    behind: tuple[str, ...] = ()
    forks: Forks | None = field(default=None, compare=False)

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

    def process(self, environment: Mapping[str, str], progress: int) -> Process:
        """The process, with this environment; it notes its progress in the file of that descriptor."""
        forked = None if self.forks is None else self.forks.process(environment, progress)
        if forked is not None:
            return forked
        return subprocess.Popen(  # noqa: S603 - our own module, by the interpreter that was asked for
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
            # The folder of the run may have modules of our packages' names; another interpreter is told where ours are.
            cwd=str(HOME) if self.python is None else None,
            pass_fds=(progress,),
            # Ctrl-C is for us; the worker then goes with its pipe or its parent.
            start_new_session=True,
        )

    @property
    def path(self) -> list[str] | None:
        """Where the process may import from, None: from where it does anyway."""
        return sys.path if self.python is None else None


__all__ = ["FORKED", "START_TIMEOUT", "TARGET_PYTHON", "Launch"]
