"""Environments are made once, have what was asked for, and what cannot be installed is said in a sentence."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from zipfile import ZipFile

import pytest

from autotest.commands.bisecting import environments
from autotest.commands.bisecting.environments import environment
from autotest.errors import EnvironmentFault

pytestmark = pytest.mark.slow

WHEEL = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def wheel(folder: Path, name: str, number: str) -> Path:
    """A package of one module, which says its version."""
    about = f"{name}-{number}.dist-info"
    path = folder / f"{name}-{number}-py3-none-any.whl"
    files = {
        f"{name}.py": f"VERSION = {number!r}\n",
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {number}\n",
        f"{about}/WHEEL": WHEEL,
    }
    record = "".join(f"{file},,\n" for file in (*files, f"{about}/RECORD"))
    with ZipFile(path, "w") as packed:
        for file, text in {**files, f"{about}/RECORD": record}.items():
            packed.writestr(file, text)
    return path


@pytest.fixture(params=["uv", "pip"])
def wheels(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only place where packages come from, by either installer."""
    if request.param == "pip":
        monkeypatch.setattr(environments, "_works", lambda command: False)
    elif not environments._works("uv"):
        pytest.skip("uv is not installed")
    folder = tmp_path / "wheels"
    folder.mkdir()
    for number in ("1.0", "2.0"):
        wheel(folder, "toy_package", number)
    wheel(folder, "toy_beside", "3.0")
    for tool in ("PIP", "UV"):
        monkeypatch.setenv(f"{tool}_FIND_LINKS", str(folder))
        monkeypatch.setenv(f"{tool}_NO_INDEX", "1")
    monkeypatch.setattr(environments, "_NEEDED", ())
    # Tests run in forks of a process that is called otherwise.
    monkeypatch.setattr(sys, "executable", str(Path(sys.prefix, "bin", "python")))
    return folder


def told(python: str, *names: str) -> str:
    """The versions of packages there."""
    code = f"import {', '.join(names)}; print({', '.join(f'{name}.VERSION' for name in names)})"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout  # noqa: S603


def test_versions_side_by_side(wheels: Path, tmp_path: Path) -> None:
    """Each has an environment of its own, by its number or a wheel's path, and keeps it."""
    first = environment("toy-package==1.0", [], tmp_path)
    second = environment(str(wheels / "toy_package-2.0-py3-none-any.whl"), ["toy_beside==3.0"], tmp_path)
    assert told(first, "toy_package") == "1.0\n"
    assert told(second, "toy_package", "toy_beside") == "2.0 3.0\n"
    for path in wheels.iterdir():
        path.unlink()
    assert environment("toy-package==1.0", [], tmp_path) == first
    # What was not finished is made anew.
    (Path(first).parents[1] / "op-autotest.txt").unlink()
    with pytest.raises(EnvironmentFault):
        environment("toy-package==1.0", [], tmp_path)


def test_no_such_version(wheels: Path, tmp_path: Path) -> None:
    """The installer's last words are told, and the knob; nothing is taken for an environment afterwards."""
    for _ in range(2):
        with pytest.raises(EnvironmentFault, match=r"(?s)^toy-package==9 cannot be installed: .*9.* \[--with\]$"):
            environment("toy-package==9", [], tmp_path)


@pytest.mark.parametrize(
    ("requirement", "also", "pinned"),
    [
        ("toy==1", [], {"numpy", "psutil"}),
        ("toy==1", ["NumPy<2"], {"psutil"}),
        ("/far/psutil-5.9.8-cp36-abi3-linux.whl", [], {"numpy"}),
        ("pytest-xdist @ https://example.org/x.whl", ["import-linter"], {"numpy", "psutil"}),
    ],
)
def test_what_is_as_here(
    requirement: str, also: Sequence[str], pinned: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NumPy and psutil are, unless something else is asked of them."""
    asked: list[Sequence[str]] = []
    monkeypatch.setattr(environments, "_run", lambda command, requirement: asked.append(command))
    monkeypatch.setattr(Path, "write_text", lambda path, text: len(text))
    environment(requirement, also, tmp_path)
    wanted = asked[-1][asked[-1].index(requirement) :]
    assert wanted == [
        requirement,
        *also,
        *(f"{name}=={version(name)}" for name in ("numpy", "psutil") if name in pinned),
    ]


def test_what_a_target_wants_beside_it() -> None:
    """The extra of its name says it, the package itself left to the version that is asked for."""
    beside = [*environments._wanted_beside("oneflow")]
    assert {"nvidia-cublas-cu11", "protobuf"} < {*beside}
    assert "numpy" not in beside
    assert [*environments._wanted_beside("torch")] == []
