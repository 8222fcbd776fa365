"""Environments with one version of a target each, made when it is first asked for and kept."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from autotest.errors import EnvironmentFault

#: What a worker needs besides its target.
_NEEDED = ("numpy", "psutil")
#: Written when everything is installed.
_DONE = "op-autotest.txt"


def home() -> Path:
    """Where they are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "op-autotest" / "environments"


def environment(requirement: str, also: Sequence[str], folder: Path) -> str:
    """The interpreter of the environment in `folder` that has this version of a target, such as `oneflow==0.8.0`, and
    `also` these; made for this interpreter's version of Python where it is not there yet. What `also` says nothing of
    is as here: NumPy, psutil, and what the target wants beside it.

    Raises EnvironmentFault with the installer's words where they cannot be installed.
    """
    named = {_name(one) for one in (requirement, *also)}
    besides = [*_NEEDED, *_wanted_beside(_name(requirement))]
    wanted = [requirement, *also, *(f"{name}=={version(name)}" for name in besides if name not in named)]
    told = "\n".join([sys.version, *wanted])
    readable = re.sub(r"[^\w.=-]+", "_", requirement.rpartition("/")[2])
    place = folder / f"{readable}-{hashlib.sha256(told.encode()).hexdigest()[:8]}"
    python = place / "bin" / "python"
    if not (place / _DONE).is_file():
        shutil.rmtree(place, ignore_errors=True)  # half of one, whose installation was interrupted
        for command in _commands(place, python, wanted):
            _run(command, requirement)
        (place / _DONE).write_text(told + "\n")
    return str(python)


def _name(requirement: str) -> str:
    """The package of a requirement, or of a wheel, whose name ends at its first dash."""
    pattern = r"[\w.]+" if requirement.endswith(".whl") else r"[\w.-]+"
    found = re.match(pattern, requirement.rpartition("/")[2])
    return canonicalize_name(found[0]) if found else ""


def _wanted_beside(target: str) -> Iterator[str]:
    """What our package names beside a target in the extra of its name, and is installed here."""
    for text in requires("op-autotest") or ():
        asked = Requirement(text)
        if asked.marker is not None and asked.marker.evaluate({"extra": target}) and not asked.marker.evaluate():
            name = canonicalize_name(asked.name)
            if name not in _NEEDED and _installed(name):
                yield name


def _installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


def _commands(place: Path, python: Path, wanted: Sequence[str]) -> Sequence[Sequence[str]]:
    """By uv where it is there, which takes what it has installed before from its cache; else by venv and pip."""
    if _works("uv"):
        return [
            ["uv", "venv", "--quiet", "--python", sys.executable, str(place)],
            ["uv", "pip", "install", "--quiet", "--python", str(python), *wanted],
        ]
    return [
        [sys.executable, "-m", "venv", str(place)],
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted],
    ]


def _works(command: str) -> bool:
    """Whether a command is more than a name: one that pyenv knows of may have no program behind it."""
    if shutil.which(command) is None:
        return False
    asked = subprocess.run([command, "--version"], capture_output=True, check=False)  # noqa: S603 - its own version
    return asked.returncode == 0


def _run(command: Sequence[str], requirement: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - the user's own versions
    if done.returncode:
        said = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise EnvironmentFault(f"{requirement} cannot be installed: {' '.join(said[-3:])} [--with]")


__all__ = ["environment", "home"]
