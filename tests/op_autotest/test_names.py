"""Modules of the user's that have the names of our packages: told of with every way out, or in nobody's way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from autotest.names import HOME, displaced
from op_autotest import command as entry
from support.runs import command, environment, lay, run_pytest

pytestmark = pytest.mark.slow

TWO = "two.py"


def shadowed(name: str, found: Path, folder: Path) -> str:
    """The sentence about somebody else's module, which was found in a folder of the import path."""
    return (
        f"the import {name!r} resolved to {found}, but should resolve to op-autotest's own package in {HOME}: "
        f"rename yours; or make it part of a package (import yours.{name}); or keep {folder} off the import path "
        "(`autotest run` or `pytest` instead of `python -m pytest`, pytest's --import-mode=importlib, no PYTHONPATH "
        "and no `pythonpath` that names it); or, where yours is installed, give op-autotest an environment of its own"
    )


@pytest.mark.parametrize("file", ["generators.py", "dual_object/__init__.py"])
def test_file_beside_the_tests(tmp_path: Path, file: str) -> None:
    """A module of one of our packages' names beside the tests is named with every way out, and nothing runs."""
    outcome = run_pytest(tmp_path, {"test_two.py": TWO, file: "X = 1\n"}, target=None)
    name = file.partition("/")[0].removesuffix(".py")
    assert outcome.status == 2, outcome.out
    assert f"_\n{shadowed(name, tmp_path / file, tmp_path)} [test_two.py:2]\n=" in outcome.out
    assert "Traceback" not in outcome.out


def test_shadowing_package_is_named_before_options_are_read(tmp_path: Path) -> None:
    """With an option given, the shadowing package is a usage error of one sentence."""
    outcome = run_pytest(tmp_path, {"test_two.py": TWO, "reports/__init__.py": "X = 1\n"}, forked=False)
    assert outcome.status == pytest.ExitCode.USAGE_ERROR
    assert outcome.out.strip() == f"ERROR: {shadowed('reports', tmp_path / 'reports/__init__.py', tmp_path)}"


@pytest.mark.parametrize(
    ("test", "way"),
    [("test_two.py", ["--import-mode=importlib"]), ("tests/test_two.py", [])],
    ids=["importlib", "pytest"],
)
def test_ways_out_of_a_shadow(tmp_path: Path, test: str, way: list[str]) -> None:
    """The very packages are in nobody's way where the folder that holds them is off the import path, or where they
    are part of another package: without `python -m`, and with importlib's mode or the tests in a folder.
    """
    lay(tmp_path, {test: TWO, "mine/__init__.py": "", "mine/reports.py": "", "suites/__init__.py": ""})
    for name in ("generators", "dual_object", "reports"):
        lay(tmp_path, {f"{name}/__init__.py": "X = 1\n"})
    line = [str(Path(sys.executable).with_name("pytest")), *way, *command(test, "--autotest-eager")[3:]]
    done = subprocess.run(line, cwd=tmp_path, env=environment({}), capture_output=True, text=True, check=False)  # noqa: S603 - our own command
    assert done.returncode == 0, done.stdout + done.stderr
    assert "aligned: 4 cases of 2 tests" in done.stdout


def test_import_that_gets_our_package(tmp_path: Path) -> None:
    """A test file that means a module of its own, but comes after ours of that name is loaded, is told so."""
    files = {"a/test_two.py": TWO, "b/test_mine.py": "from generators import mine\n", "b/generators.py": "mine = 1\n"}
    outcome = run_pytest(tmp_path, files, target=None)
    assert outcome.status == 2, outcome.out
    assert (
        f"\nthe import 'generators' gave op-autotest's own package in {HOME}, not {tmp_path}/b/generators.py: "
        "rename yours; or make it part of a package (import yours.generators); or run the tests that need it without "
        "those of op-autotest: pytest -p no:autotest\n"
    ) in outcome.out


def test_project_that_is_called_autotest(tmp_path: Path) -> None:
    """In a project with a package `autotest` of its own, pytest runs its tests, and what is meant for ours says why it
    cannot.
    """
    mine = {
        "autotest/__init__.py": "X = 1\n",
        "test_mine.py": "import autotest\n\ndef test_x():\n    assert autotest.X\n",
    }
    outcome = run_pytest(tmp_path, mine, target=None, env={"PYTHONPATH": "."})
    assert outcome.status == 0, outcome.out
    sentence = shadowed("autotest", tmp_path / "autotest/__init__.py", tmp_path)
    assert sentence not in outcome.out
    outcome = run_pytest(tmp_path, {**mine, "test_two.py": TWO}, target=None, env={"PYTHONPATH": "."})
    assert outcome.status == 2, outcome.out
    assert (
        f"\ncannot import name 'autotest' from 'autotest' ({tmp_path}/autotest/__init__.py)\n{sentence}\n"
        in outcome.out
    )
    outcome = run_pytest(tmp_path, mine, env={"PYTHONPATH": "."}, forked=False)
    assert (outcome.status, outcome.out.strip()) == (pytest.ExitCode.USAGE_ERROR, f"ERROR: {sentence}")


def test_data_folders_of_our_names_are_in_nobodys_way(tmp_path: Path) -> None:
    """Folders without an `__init__.py` that are called as our packages are: ours are found, wherever pytest starts."""
    for name in ("autotest", "generators", "dual_object", "reports"):
        (tmp_path / name).mkdir()
    outcome = run_pytest(tmp_path, {"test_two.py": TWO}, "--autotest-eager", env={"PYTHONPATH": "."}, forked=False)
    assert outcome.status == 0, outcome.out
    assert outcome.outcomes() == {"test_first": "passed", "test_second": "passed"}


def test_command_in_a_project_that_is_called_autotest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command says so too, with the status of a wrong usage."""
    lay(tmp_path, {"autotest.py": ""})
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "autotest"]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(SystemExit) as end:
        entry.main()
    assert end.value.code == 2
    assert capsys.readouterr().err == f"Error: {shadowed('autotest', tmp_path / 'autotest.py', tmp_path)}\n"


def test_our_own_are_no_strangers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours are not taken for somebody else's, loaded or not; nor is the command."""
    assert [displaced(name) for name in ("autotest", "reports")] == [None, None]
    monkeypatch.delitem(sys.modules, "reports", raising=False)
    assert displaced("reports") is None
    monkeypatch.setattr("sys.argv", ["autotest", "--version"])
    with pytest.raises(SystemExit) as end:
        entry.main()
    assert end.value.code == 0
