"""Builds an sdist of the working tree and a wheel of that into dist/, installs them into empty environments and tries
them there.

    python .ci/package.py                 two legs: the wheel, and the sdist as an installer builds it
    python .ci/package.py --all           every CPython and pytest that op-autotest says it works with
    python .ci/package.py 3.12/8 3.13/9   these: CPython/pytest

Each leg is an environment of its own without OneFlow, outside of the checkout; the target is PyTorch. A CPython that is
not here is skipped, with that reason. Exit status: 0, or 1 where a leg failed or none could run.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
SMOKE = Path(__file__).with_name("smoke.py")
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
PYTESTS = ("8", "9")
#: PyTorch is most of what is installed: the version that the build has is in the installer's cache already.
PINNED = "torch"
#: Legs side by side: each has one process at work at most times.
AT_ONCE = 2


@dataclass(frozen=True)
class Leg:
    """One environment: CPython 3.12 with the newest pytest 8 is `Leg("3.12", "8")`."""

    python: str
    pytest: str

    @classmethod
    def parse(cls, text: str) -> Leg:
        """The leg that a person calls `3.12/8`."""
        python, slash, pytest = text.partition("/")
        if not (slash and python and pytest):
            raise argparse.ArgumentTypeError(f"{text!r}, but should be such as 3.12/8")
        return cls(python, pytest)

    def __str__(self) -> str:
        return f"CPython {self.python}, pytest {self.pytest}"


#: The newest of one and the oldest of the other, and the reverse.
FEW = [Leg("3.13", "8"), Leg("3.10", "9")]


class LegError(Exception):
    """A command of a leg did not end as it should."""


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    """What a command prints; raises LegError with all of it where it fails."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    line = [*map(str, command)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    done = subprocess.run(line, cwd=cwd, env=clean, check=False, **pipes)  # noqa: S603 - our own commands
    if done.returncode:
        raise LegError(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


def build(folder: Path) -> tuple[Path, Path]:
    """The sdist of what Git tracks or would, and the wheel that is made of nothing but this sdist."""
    tree = folder / "tree"
    names = run("git", "ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    for name in names:
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
    hook = "import sys; from setuptools import build_meta; getattr(build_meta, sys.argv[1])(sys.argv[2])"
    run(sys.executable, "-c", hook, "build_sdist", folder, cwd=tree)
    [sdist] = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked")  # noqa: S202 - we made it
    [unpacked] = (folder / "unpacked").iterdir()
    run(sys.executable, "-c", hook, "build_wheel", folder, cwd=unpacked)
    [wheel] = folder.glob("*.whl")
    return sdist, wheel


def installer() -> list[str]:
    """The command line of uv; empty where it is not here, and pip installs."""
    found = shutil.which("uv")
    # A pyenv shim of that name exists, and fails where .python-version has no uv.
    works = found and subprocess.run([found, "--version"], capture_output=True, check=False).returncode == 0  # noqa: S603
    return [str(found)] if works else []


def interpreter(version: str, uv: list[str]) -> Path | None:
    """The CPython of a version on this machine: pyenv's, one on the PATH, or one that uv has; None where there is none.

    A pyenv shim on the PATH may be of a version that is not switched on, and fails: each is asked for its version.
    """
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = [*pyenv.glob(f"versions/{version}.*/bin/python")]
    found += [Path(path) for path in [shutil.which(f"python{version}")] if path]
    if uv:
        with contextlib.suppress(LegError):
            line = ("python", "find", "--no-project", "--managed-python", "--no-python-downloads", version)
            found.append(Path(run(*uv, *line).strip()))
    for python in found:
        with contextlib.suppress(LegError):
            if run(python, "--version").startswith(f"Python {version}."):
                return python
    return None


def install(leg: Leg, python: Path, package: Path, folder: Path, uv: list[str]) -> Path:
    """An environment with the package and nothing else of ours; returns its interpreter."""
    made = folder / "environment"
    [pin] = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if line.startswith(f"{PINNED}==")]
    wanted = [f"{package}[suites]", f"pytest=={leg.pytest}.*", pin]
    if uv:
        run(*uv, "venv", "--quiet", "--no-project", "--python", python, made)
        run(*uv, "pip", "install", "--quiet", "--python", made / "bin" / "python", *wanted)
    else:
        run(python, "-m", "venv", made)
        run(made / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted)
    return made / "bin" / "python"


def try_leg(leg: Leg, package: Path, uv: list[str]) -> str:
    """One leg; returns what it measured, or how it failed."""
    python = interpreter(leg.python, uv)
    if python is None:
        return f"skipped: there is no CPython {leg.python} on this machine"
    begun = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="autotest-leg-") as scratch:
            mine = install(leg, python, package, Path(scratch), uv)
            installed = time.monotonic()
            said = run(mine, SMOKE, cwd=Path(scratch)).splitlines()
    except LegError as error:
        return f"FAILED: {error}"
    took = f"installed in {installed - begun:.0f} s, tried in {time.monotonic() - installed:.0f} s"
    return f"{said[-1]}; {package.suffix[1:]} {took}"


def main() -> int:
    """Build, and try every leg; one that fails does not end the others."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("legs", nargs="*", type=Leg.parse, metavar="CPYTHON/PYTEST")
    parser.add_argument("--all", action="store_true", help=f"CPython {', '.join(PYTHONS)} with pytest 8 and 9")
    asked = parser.parse_args()
    every = [Leg(python, pytest) for python in PYTHONS for pytest in PYTESTS]
    legs = every if asked.all else asked.legs or FEW
    uv = installer()
    told: list[tuple[str, str]] = []
    with tempfile.TemporaryDirectory(prefix="autotest-package-") as scratch:
        sdist, wheel = build(Path(scratch))
        DIST.mkdir(exist_ok=True)
        for built in (sdist, wheel):
            shutil.copy(built, DIST)
        print(
            f"{sdist.name}: {sdist.stat().st_size >> 10} KB; {wheel.name}: {wheel.stat().st_size >> 10} KB", flush=True
        )
        packages = [sdist if number % 2 else wheel for number in range(len(legs))]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for leg, said in zip(legs, pool.map(try_leg, legs, packages, [uv] * len(legs)), strict=True):
                told.append((str(leg), said))
                print(f"{leg}: {said}", flush=True)
    ran = [said for _, said in told if not said.startswith(("FAILED", "skipped"))]
    failed = [leg for leg, said in told if said.startswith("FAILED")]
    print(f"{len(ran)} of {len(told)} legs passed, {len(failed)} failed{': ' * bool(failed)}{'; '.join(failed)}")
    return 0 if ran and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
