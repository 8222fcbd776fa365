"""A program is traced as it is, and what it called is checked."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from autotest.cli import main
from support.runs import lay, run_autotest

pytestmark = pytest.mark.slow

PYTHON = str(Path(sys.prefix, "bin", "python"))
PROGRAM = """
import sys
import helper
import torch

assert (sys.argv[1:], __name__) == (["--steps", "3"], "__main__")
x = torch.linspace(-2.0, 2.0, 8).reshape(2, 4).requires_grad_()
for _ in range(3):
    helper.loss(x).backward()
print("done")
sys.exit(4)
"""
HELPER = """
import torch

def loss(x):
    return torch.nn.functional.softmax(x.t(), dim=0).square().sum()
"""
CALLS = """\
       3  F.softmax(x[2, 4](low=-2, high=2).permute(1, 0), dim=0)
       3  x[2, 4](low=-2, high=2).t()
       3  x[4, 2](low=0.087, high=0.49).square()
       3  x[4, 2](low=0.0076, high=0.24).sum()
       1  torch.linspace(-2.0, 2.0, 8)
       1  x[8](low=-2, high=2, requires_grad=False).reshape(2, 4)
"""


def trace(folder: Path, *command: str) -> tuple[int, str, str]:
    """The status of a trace, and what it and the program print."""
    done = run_autotest(folder, "trace", "--", *command)
    return done.returncode, done.stdout, done.stderr


def test_trace_and_check(tmp_path: Path) -> None:
    """Its own output and status are the program's; a second run is counted on; the calls are tests."""
    lay(tmp_path, {"train.py": PROGRAM, "helper.py": HELPER})
    assert trace(tmp_path, PYTHON, "train.py", "--steps", "3") == (
        4,
        "done\n",
        "14 calls, 6 new to calls.txt\n",
    )
    lines = (tmp_path / "calls.txt").read_text().splitlines(keepends=True)
    assert sorted(lines) == sorted(CALLS.splitlines(keepends=True))
    trace(tmp_path, PYTHON, "-W", "ignore", "train.py", "--steps", "3")
    assert (tmp_path / "calls.txt").read_text().split()[0] == "6"
    options = ["-n", "2", "--target", "torch", "--repro-total", "0", "--no-memory"]
    done = run_autotest(tmp_path, "check", "torch.relu(x[2])", "--calls", "calls.txt", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "7 passed" in done.stdout


@pytest.mark.parametrize("way", [["-m", "train"], ["-c", "import train"]])
def test_ways_to_run(tmp_path: Path, way: Sequence[str]) -> None:
    """A module and a text are run as Python runs them."""
    lay(tmp_path, {"train.py": "import torch\nprint(torch.ones(2).neg().sum().item())\n"})
    status, out, said = trace(tmp_path, PYTHON, *way)
    assert (status, out, said) == (0, "-2.0\n", "3 calls, 3 new to calls.txt\n")


def test_script_of_python(tmp_path: Path) -> None:
    """What names its interpreter is run by it."""
    lay(tmp_path, {"tool": f"#!{PYTHON}\nimport torch\ntorch.ones(2)\n"})
    (tmp_path / "tool").chmod(0o700)
    assert trace(tmp_path, "./tool") == (0, "", "1 call, 1 new to calls.txt\n")


def test_ends(tmp_path: Path) -> None:
    """What raises shows its own lines alone, and has its calls written; what ends at once has none, which is said."""
    lay(
        tmp_path,
        {"a.py": "import torch\ntorch.ones(2)\n1 / 0\n", "b.py": "import os, torch\ntorch.ones(2)\nos._exit(3)\n"},
    )
    status, _, said = trace(tmp_path, PYTHON, "a.py")
    assert status == 1
    assert re.sub(r'".*/?a.py"', "a.py", said) == (
        "Traceback (most recent call last):\n  File a.py, line 3, in <module>\n    1 / 0\n"
        "ZeroDivisionError: division by zero\n1 call, 1 new to calls.txt\n"
    )
    words = "nothing was recorded: the program ended with 3 before it could be written\n"
    assert trace(tmp_path, PYTHON, "b.py") == (3, "", words)


def test_left_out(tmp_path: Path) -> None:
    """What is no expression is counted by its op and why."""
    code = "import torch\nx = torch.ones(3)\nx[0] = 2.0\nx[1] = 3.0\ntorch.rand(2, generator=torch.Generator())\n"
    lay(tmp_path, {"a.py": code})
    said = (
        "4 calls, 1 new to calls.txt\n"
        "  left out: 2 calls of torch.Tensor.__setitem__: this operator has no expression\n"
        "  left out: 1 call of torch.rand: an argument is a Generator\n"
    )
    assert trace(tmp_path, PYTHON, "a.py") == (0, "", said)


def test_five_that_are_left_out_are_named(tmp_path: Path) -> None:
    """Of more it is said how many they are."""
    lay(
        tmp_path,
        {
            "a.py": "import torch\ng = torch.Generator()\n"
            "for draw in (torch.rand, torch.randn, torch.randperm):\n    draw(2, generator=g)\n"
            "x = torch.ones(3)\nfor method in ('normal_', 'uniform_', 'bernoulli_', 'exponential_'):\n"
            "    getattr(x, method)(generator=g)\n"
        },
    )
    status, _, said = trace(tmp_path, PYTHON, "a.py")
    *_, fifth, last = said.splitlines()
    assert (status, len(said.splitlines())) == (0, 7)
    assert fifth.endswith(": an argument is a Generator")
    assert last == "  and 2 ops more"


def test_interpreter_without_this_project(tmp_path: Path) -> None:
    """What is in its way beside the program is not taken for a package of ours."""
    lay(tmp_path, {"a.py": "import dual_object, torch\nprint(dual_object.MINE)\ntorch.ones(2)\n"})
    lay(tmp_path, {"calls.py": "raise SystemExit('not this one')\n", "dual.py": ""})
    done = subprocess.run(  # noqa: S603 - our own
        [PYTHON, "-m", "autotest", "trace", "--", PYTHON, "-c", "import torch; torch.ones(2)"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_what_python_cannot_begin(tmp_path: Path) -> None:
    """An interpreter that lacks PyTorch, and a module that is nowhere, are a sentence each."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)  # noqa: S603 - our own
    bare = str(tmp_path / "bare" / "bin" / "python")
    assert trace(tmp_path, bare, "-c", "print(1)") == (
        1,
        "",
        f"{bare} has no numpy, but should be the Python of a program that uses PyTorch\n"
        "nothing was recorded: the program ended with 1 before it could be written\n",
    )
    assert trace(tmp_path, PYTHON, "-m", "nowhere.train") == (
        1,
        "",
        f"{PYTHON}: No module named nowhere.train\n0 calls, 0 new to calls.txt\n",
    )


def test_file_that_cannot_be_written(tmp_path: Path) -> None:
    """A folder that was there before the program ran, and is not behind it."""
    lay(tmp_path, {"a.py": "import torch, shutil\ntorch.ones(2)\nshutil.rmtree('kept')\n"})
    (tmp_path / "kept").mkdir()
    done = run_autotest(tmp_path, "trace", "--output", "kept/calls.txt", "--", PYTHON, "a.py")
    words = "--output=kept/calls.txt cannot be written: No such file or directory; name another file\n"
    assert (done.returncode, done.stderr) == (2, words)


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (
            ["--", "python", "-u", "nosuch.py"],
            f"nosuch.py is not there, but should be the script that {PYTHON} runs",
        ),
        (["--", "no-such-program"], "no-such-program is no program, but should be python, or a script of Python's"),
        (["--", "python"], "python runs no program, but should, as python train.py or python -m train"),
        (
            ["--", "python", "-u", "-m"],
            "python -u -m runs no program, but should, as python train.py or python -m train",
        ),
        (
            ["--output", "nowhere/calls.txt", "--", "python", "-c", "never run"],
            "--output=nowhere/calls.txt, but should be a file that can be written, in a folder that is there",
        ),
        (["--", "ls"], "ls is no program of Python's, but should be: python train.py, or a script as pytest is"),
    ],
)
def test_usage(command: Sequence[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no program is one sentence."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(PYTHON).parent}:/bin:/usr/bin")
    result = CliRunner().invoke(main, ["trace", *command])
    assert (result.exit_code, result.output) == (2, f"{sentence}\n")


def test_check_of_nothing() -> None:
    """An expression or a file is needed."""
    result = CliRunner().invoke(main, ["check"])
    assert result.exit_code == 2
    assert "Error: Missing argument 'EXPRESSION...'." in result.output
