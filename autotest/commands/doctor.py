"""`autotest doctor`: whether a run can work here, and what it would find."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib.machinery import PathFinder
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from autotest.commands.run import processes
from autotest.errors import AutotestError, EnvironmentFault
from autotest.options import OPTIONS
from autotest.options.targets import launch
from autotest.workers.supervisor import Supervisor

#: A worker needs about so much memory.
NEEDED_BYTES = 2 << 30


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing examined."""

    ok: bool
    what: str
    said: str


def examine(target: str, report: Path, python: str | None = None) -> Iterator[Finding]:
    """Look at everything a run needs, one finding at a time; `python` is the interpreter that runs the target."""
    yield Finding(
        (3, 10) <= tuple(map(int, platform.python_version_tuple()[:2])) < (3, 14), "python", platform.python_version()
    )
    for package in ("op-autotest", "torch", "numpy", "pytest", "pytest-xdist", "hypothesis"):
        try:
            yield Finding(True, package, version(package))
        except PackageNotFoundError:
            yield Finding(False, package, f"not installed, but should be: pip install {package}")
    yield _bytecode()
    yield _memory()
    yield _folder(report)
    yield from _target(target, python)


def _bytecode() -> Finding:
    torch = PathFinder.find_spec("torch")
    kept = not sys.dont_write_bytecode or (torch is not None and Path(torch.cached or "").is_file())
    advice = (
        "not kept, so every process compiles all that it imports, which takes seconds: unset PYTHONDONTWRITEBYTECODE"
    )
    return Finding(True, "bytecode", "kept" if kept else advice)


def _memory() -> Finding:
    import psutil

    free = psutil.virtual_memory().available
    cores = os.cpu_count() or 1
    return Finding(
        free >= NEEDED_BYTES,
        "memory",
        f"{free / 2**30:.1f} GB free, {cores} core{'s' * (cores > 1)}: -n auto means {processes('auto')}",
    )


def _folder(report: Path) -> Finding:
    existing = next(place for place in (report.absolute(), *report.absolute().parents) if place.exists())
    if existing.is_dir() and os.access(existing, os.W_OK):
        return Finding(True, "report folder", str(report))
    return Finding(
        False, "report folder", f"{report} cannot be written: {existing} is not writable; choose another with --report"
    )


def _target(target: str, python: str | None) -> Iterator[Finding]:
    started = time.perf_counter()
    try:
        OPTIONS["target"].read(target, "--target")
        launched = launch(target, python)
        with closing(Supervisor(launched, None)) as supervisor:
            info = supervisor.info()
    except (EnvironmentFault, AutotestError) as error:
        yield Finding(False, "target", str(error))
        return
    seconds = time.perf_counter() - started
    if launched.python is not None:
        yield Finding(True, "interpreter", launched.python)
    versions = ", ".join(f"{name} {said}" for name, said in info.environment.items())
    yield Finding(True, "target", f"{versions}; started in {seconds:.1f} s")
    yield Finding(True, "devices", ", ".join(info.devices))
    yield Finding(True, "dtypes", ", ".join(info.dtypes))
    if info.lacks:
        yield Finding(True, "lacks", ", ".join(info.lacks))
