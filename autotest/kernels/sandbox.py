"""A sandbox for the process that runs a kernel: bubblewrap's, where that is installed."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from autotest.errors import EnvironmentFault


def sandbox_command(folder: Path) -> tuple[str, ...]:
    """What a command is put behind to be without a network, and without files that it may write to but those of a
    folder. Raises EnvironmentFault where there is no bubblewrap.

    Processes keep their numbers, by which the memory that they hold is watched. In a user namespace of its own, and
    without capabilities, it cannot read the memory of this process, which has PyTorch's answers, by /proc: not even
    where both are root's.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise EnvironmentFault("--sandbox needs bwrap, which is not on PATH: install the package bubblewrap")
    files = ("--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev", "--tmpfs", "/dev/shm")  # noqa: S108 - one of its own
    place = str(folder)
    own = ("--unshare-user-try", "--cap-drop", "ALL", "--unshare-net", "--unshare-ipc")
    return (program, "--die-with-parent", *own, *files, "--bind", place, place, "--")


def sandbox_environment(folder: Path) -> Mapping[str, str]:
    """The variables that have whoever writes files write them there: Python, and what compiles C++ or Triton."""
    names = ("TMPDIR", "TORCH_EXTENSIONS_DIR", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "NUMBA_CACHE_DIR")
    return dict.fromkeys(names, str(folder))


__all__ = ["sandbox_command", "sandbox_environment"]
