"""What somebody does first who has installed op-autotest.

Run by the interpreter of that environment, in an empty folder away from the checkout. Ends with the versions on one
line; a step that goes wrong ends it, with all that was printed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import distribution, version
from pathlib import Path
from typing import Any

BIN = Path(sys.executable).parent

TEST = """
from autotest import autotest, random, random_tensor, torch


@autotest(n=6, coverage="none")
def test_matmul():
    k = random(1, 5)
    return torch.matmul(random_tensor(ndim=2, dim1=k), random_tensor(ndim=2, dim0=k))


@autotest(n=6, coverage="none")
def test_erf():
    return torch.erf(random_tensor(ndim=2))
"""

TARGET = """
import torch

from dual_object.adapters.torch.adapter import Adapter as TorchAdapter


class Adapter(TorchAdapter):
    name = "wrong"

    def resolve(self, path):
        if path == "erf":
            return lambda x: torch.erf(x) * 1.001
        return super().resolve(path)
"""


def run(status: int, *command: str, module: bool = False, path: str = "") -> str:
    """Run a command of this environment, with `path` on the import path; end everything at another exit status."""
    line = [sys.executable, "-m", *command] if module else [str(BIN / command[0]), *command[1:]]
    env = {**os.environ, "PYTHONPATH": path}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    done = subprocess.run(line, env=env, check=False, **pipes)  # noqa: S603 - the commands of this environment
    said = f"$ {' '.join(command)}\n{done.stdout}"
    print(said, flush=True)
    if done.returncode != status:
        sys.exit(f"exit status {done.returncode}, but should be {status}: {' '.join(command)}")
    return done.stdout


def expect(said: str, *wanted: str) -> None:
    """End everything where a command has not said something."""
    for words in wanted:
        if words not in " ".join(said.split()):
            sys.exit(f"nowhere said: {words}")


def summary() -> dict[str, Any]:
    """The summary of the latest run."""
    found: dict[str, Any] = json.loads(Path("autotest-report/summary.json").read_text())
    return found


def ours() -> str:
    """The package: what it says of itself, and that it is the installed one."""
    package = distribution("op-autotest")
    metadata = package.metadata
    if metadata["License-Expression"] != "Apache-2.0" or "Typing :: Typed" not in (
        metadata.get_all("Classifier") or ()
    ):
        sys.exit(f"wrong metadata: {metadata.items()}")
    expect(run(0, "autotest", "--version"), package.version)
    return str(package.locate_file(""))


def first_tests() -> None:
    """A test that aligns and one that diverges, by the command and by pytest with xdist."""
    Path("test_first.py").write_text(TEST)
    Path("wrong.py").write_text(TARGET)
    said = run(0, "pytest", "test_first.py", "--autotest-target", "torch", "-n", "1", module=True)
    expect(said, "aligned: 12 cases of 2 tests")
    said = run(1, "autotest", "run", "test_first.py", "--target", "wrong:Adapter", "-n", "0")
    expect(said, "wrong/eager_forward/value/erf/float32", "DIVERGENT: 2 divergences in 1 of 2 tests")
    [row] = [row for row in summary()["divergences"] if row["phase"] == "eager_forward"]
    expect(run(0, "autotest", "report", "--format", "markdown"), "DIVERGENT")
    if "erf" not in Path("autotest-report/index.html").read_text():
        sys.exit("the page does not have the op")
    expect(run(1, "autotest", "replay", row["id"]), f"{row['id']} stands")


def suites() -> None:
    """The suites, from a folder that has none, and their ledger, which is about another target."""
    run(0, "autotest", "run", "--suites", "test_scan.py", "--target", "torch", "-n", "0", "--cases", "2")
    found = summary()
    if found["divergences"] or found["tests"] < 10:
        sys.exit(f"the suites came to {found}")
    if found["path"] != str(Path.cwd()):
        sys.exit(f"the suites ran as a part of {found['path']}")
    ledger = distribution("op-autotest").locate_file("suites/known_divergences.toml")
    expect(run(2, "autotest", "run", "--suites", "test_nowhere.py"), "PATHS='test_nowhere.py': the suites in")
    expect(run(0, "autotest", "ledger", "document", str(ledger)), "known divergences from PyTorch")


def namesakes(home: str) -> None:
    """A module of the user's that has one of our names is told of, with where ours lies."""
    for name in ("reports", "autotest"):
        folder = Path(f"with_{name}")
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").touch()
        (folder / "test_first.py").write_text(TEST)
        said = run(2, "pytest", str(folder), "--rootdir", str(folder), path=str(folder))
        ours = f"op-autotest's own package in {Path(home).resolve()}:"
        expect(said, f"resolved to {folder.resolve()}/{name}/__init__.py, but should resolve to {ours}")


if __name__ == "__main__":
    home = ours()
    first_tests()
    suites()
    namesakes(home)
    names = ("pytest", "torch", "numpy")
    print(f"CPython {sys.version.split()[0]}, {', '.join(f'{name} {version(name)}' for name in names)}")
