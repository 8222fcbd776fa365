"""What is built of the project: a wheel that has whatever runs, metadata that says what is true."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
TYPED = ("autotest", "dual_object", "generators", "op_autotest", "reports")
#: Of apache.org/licenses/LICENSE-2.0.txt.
APACHE = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"


def built(folder: Path) -> zipfile.ZipFile:
    """A wheel, made of a copy of the packages: setuptools would leave its own files beside them."""
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
    for name in (*TYPED, "suites"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for name in ("LICENSE", "README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    hook = "from setuptools import build_meta; build_meta.build_wheel('.')"
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", hook], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    [path] = folder.glob("*.whl")
    return zipfile.ZipFile(path)


@pytest.mark.slow
def test_wheel(tmp_path: Path) -> None:
    """Every file of the packages and of the suites is in it, whatever its suffix, and no other. The licence is there as
    an expression and whole; the classifiers are the Pythons that may install it.
    """
    wheel = built(tmp_path)
    folders = {*TYPED, "suites"}
    held = {name for name in wheel.namelist() if name.partition("/")[0] in folders}
    files = {path for name in folders for path in (ROOT / name).rglob("*") if path.is_file()}
    kept = {path.relative_to(ROOT).as_posix() for path in files if "__pycache__" not in path.parts}
    assert kept - held == set()
    assert held - kept == set()
    assert {f"{name}/py.typed" for name in TYPED} <= held
    [name] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    metadata: Message = Parser().parsestr(wheel.read(name).decode())
    assert metadata["License-Expression"] == "Apache-2.0"
    licence = wheel.read(name.replace("METADATA", "licenses/LICENSE"))
    assert hashlib.sha256(licence).hexdigest() == APACHE
    pythons = [line.rpartition(" ")[2] for line in metadata.get_all("Classifier") or () if ":: 3." in line]
    assert pythons == ["3.10", "3.11", "3.12", "3.13"]
    assert metadata["Requires-Python"] == f"<3.{int(pythons[-1][2:]) + 1},>={pythons[0]}"
    assert metadata["Keywords"]


def test_pins_are_of_what_is_declared() -> None:
    """Each dependency, the extras' too, has its pin: a build is the same on every day."""
    files = [ROOT / "constraints.txt", ROOT / "constraints-runtimes.txt"]
    pinned = {line.partition("==")[0] for file in files for line in file.read_text().splitlines()}
    extras = PROJECT["optional-dependencies"].values()
    declared = [*PROJECT["dependencies"], *(requirement for extra in extras for requirement in extra)]
    assert {Requirement(text).name for text in declared} - pinned == set()
