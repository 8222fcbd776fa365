"""`autotest doctor`: what it says of a machine that is fit, and of each thing that is not."""

from __future__ import annotations

import importlib.metadata
import os
import sys
from collections import namedtuple
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

import psutil
import pytest
from click.testing import CliRunner

from autotest.cli import main
from autotest.commands.doctor import Finding, examine

FIT = ["python", "op-autotest", "torch", "numpy", "pytest", "pytest-xdist", "hypothesis", "bytecode", "memory"]
TARGET = ["target", "devices", "dtypes"]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No target is started."""
    monkeypatch.setattr("autotest.commands.doctor._target", lambda target, python: iter(()))


def finding(what: str, report: Path) -> Finding:
    """The one finding about something."""
    [found] = [found for found in examine("torch", report) if found.what == what]
    return found


def test_fit_machine(tmp_path: Path) -> None:
    """Everything a run needs is a line that starts with ok, and the status is 0."""
    result = CliRunner().invoke(main, ["doctor", "--target", "torch", "--report", str(tmp_path / "new" / "report")])
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert [line.split(":")[0] for line in lines] == [f"ok   {what}" for what in (*FIT, "report folder", *TARGET)]
    assert lines[0] == f"ok   python: {sys.version.split()[0]}"
    assert lines[2] == f"ok   torch: {importlib.metadata.version('torch')}"
    assert lines[-3].startswith(f"ok   target: torch {importlib.metadata.version('torch')}")
    assert lines[-2] == "ok   devices: cpu" or "cuda" in lines[-2]


def test_target_that_does_not_exist(tmp_path: Path) -> None:
    """A target that cannot start is BAD, in one sentence, and the status is 2."""
    result = CliRunner().invoke(main, ["doctor", "--target", "nothing", "--report", str(tmp_path)])
    assert result.exit_code == 2
    assert result.output.splitlines()[-1] == (
        "BAD  target: target='nothing', but should be one of jax, oneflow, paddle, torch, torch:EXECUTOR, "
        "package.module:Class, or a name in pyproject.toml [--target]"
    )


@pytest.mark.usefixtures("quick")
def test_missing_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that is not installed is named with the command that installs it."""
    installed = importlib.metadata.version

    def version(package: str) -> str:
        if package == "hypothesis":
            raise importlib.metadata.PackageNotFoundError(package)
        return installed(package)

    monkeypatch.setattr("autotest.commands.doctor.version", version)
    said = "not installed, but should be: pip install hypothesis"
    assert finding("hypothesis", tmp_path) == Finding(False, "hypothesis", said)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("python", "ok"), [("3.9.18", False), ("3.10.0", True), ("3.13.1", True), ("3.14.0", False)])
def test_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, python: str, ok: bool) -> None:
    """Python is one of those that the package supports."""
    monkeypatch.setattr("platform.python_version", lambda: python)
    monkeypatch.setattr("platform.python_version_tuple", lambda: tuple(python.split(".")))
    assert finding("python", tmp_path) == Finding(ok, "python", python)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("gigabytes", "ok"), [(1.9, False), (2.0, True)])
def test_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gigabytes: float, ok: bool) -> None:
    """Less memory than a worker needs is BAD."""
    available = namedtuple("available", "available")
    monkeypatch.setattr(psutil, "virtual_memory", lambda: available(int(gigabytes * 2**30)))
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    found = finding("memory", tmp_path)
    assert (found.ok, found.said) == (ok, f"{gigabytes} GB free, 1 core: -n auto means 1")


@pytest.mark.usefixtures("quick")
def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """A report below what is no folder is BAD and names what stands in its way."""
    file = tmp_path / "file"
    file.touch()
    said = f"{file}/report cannot be written: {file} is not writable; choose another with --report"
    assert finding("report folder", file / "report") == Finding(False, "report folder", said)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("writes", [True, False])
@pytest.mark.parametrize("there", [True, False])
def test_bytecode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: bool, there: bool) -> None:
    """Where Python keeps no bytecode and torch has none, doctor says what that costs; a run works all the same."""
    spec = ModuleSpec("torch", None)
    spec.cached = __file__ if there else str(tmp_path / "torch.pyc")

    def find_spec(name: str, *_: Any) -> ModuleSpec:
        return spec

    monkeypatch.setattr(PathFinder, "find_spec", find_spec)
    monkeypatch.setattr(sys, "dont_write_bytecode", not writes)
    found = finding("bytecode", tmp_path)
    costs = (
        "not kept, so every process compiles all that it imports, which takes seconds: unset PYTHONDONTWRITEBYTECODE"
    )
    assert found == Finding(True, "bytecode", "kept" if writes or there else costs)
