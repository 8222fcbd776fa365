"""The versions that a divergence is looked for in: packages to be installed, or interpreters that have them."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from autotest.commands.bisecting.environments import environment, home
from autotest.errors import UsageError


@dataclass(frozen=True, slots=True)
class Version:
    """What it is called, and how to come by the interpreter that has it, which may raise EnvironmentFault."""

    name: str
    python: Callable[[], str]


def asked_versions(versions: str | None, pythons: str | None, also: Sequence[str]) -> Sequence[Version]:
    """Those that `--versions` names, each to be installed with `also` these, or `--pythons`.

    Raises UsageError where not one of the two says at least two of them.
    """
    if (versions is None) == (pythons is None):
        said = "neither" if versions is None else "both"
        raise UsageError(
            f"{said} of --versions and --pythons is given, but one of the two should say which versions, such as "
            "--versions oneflow==0.8.0,0.9.0"
        )
    if pythons is None:
        knob, given, asked = "versions", versions, _installed(versions or "", also)
    elif also:
        raise UsageError(f"with={also[0]!r}, but the interpreters of --pythons should have it already [--with]")
    else:
        knob, given, asked = "pythons", pythons, _present(pythons)
    if len(asked) < 2:
        raise UsageError(f"{knob}={given!r}, but should be at least two, with commas [--{knob}]")
    return asked


def _installed(text: str, also: Sequence[str]) -> Sequence[Version]:
    """Those of `oneflow==0.8.0,0.9.0`: what follows the first may leave out the name. A wheel is named by its path.

    Raises UsageError.
    """
    versions: list[Version] = []
    name = ""
    for item in filter(None, map(str.strip, text.split(","))):
        whole = re.search(r"[=@/<>~]", item)
        if whole is None and not name:
            raise UsageError(f"versions={text!r}, but should be such as oneflow==0.8.0,0.9.0 [--versions]")
        requirement = item if whole else f"{name}=={item}"
        name = requirement.partition("==")[0] if "==" in requirement else name
        versions.append(Version(requirement, partial(environment, requirement, also, home())))
    return versions


def _present(text: str) -> Sequence[Version]:
    """Those of `PATH,PATH`: interpreters with packages of their own. Raises UsageError where one is not there."""
    versions: list[Version] = []
    for name in filter(None, map(str.strip, text.split(","))):
        path = shutil.which(name)
        if path is None:
            raise UsageError(f"pythons={name!r}, but should be paths of Python interpreters [--pythons]")
        versions.append(Version(name, partial(os.path.abspath, path)))
    return versions


__all__ = ["Version", "asked_versions"]
