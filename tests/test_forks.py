"""A fork of a process that has imported PyTorch is to a test what an interpreter of its own would be."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.forks import Forks, forks, outer_environment

TELL = """
import atexit, os, sys
atexit.register(print, "at exit", file=sys.stderr)
print(sys.argv, os.getcwd(), sys.path, __name__, sorted(os.environ), flush=True)
print(sys.stdin.read(), "to standard error", file=sys.stderr)
sys.exit(3)
"""


@pytest.mark.parametrize("first", ["tell.py", "-m"])
def test_fork_is_like_an_interpreter(tmp_path: Path, first: str) -> None:
    """What it runs sees the arguments, folder, path, variables and streams that `python` would give it, and ends so."""
    (tmp_path / "tell.py").write_text(TELL)
    arguments = [first, "tell", "one"] if first == "-m" else [str(tmp_path / first), "one"]
    variables = {"LC_ALL": "C.UTF-8", "PYTHONPATH": "/a:/b", "MINE": "1"}
    real = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, *arguments],
        cwd=tmp_path,
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    forked = forks().run(arguments, tmp_path, variables)
    assert (forked.returncode, forked.stdout, forked.stderr) == (3, real.stdout, " to standard error\nat exit\n")
    assert (real.returncode, real.stderr) == (3, forked.stderr)
    merged = forks().run(arguments, tmp_path, variables, merged=True)
    assert (merged.stdout, merged.stderr) == (real.stdout + real.stderr, "")


@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        ("pass", 0, ""),
        ("raise SystemExit", 0, ""),
        ("raise SystemExit('no')", 1, "no\n"),
        ("1 / 0", 1, "ZeroDivisionError: division by zero\n"),
    ],
)
def test_end_of_a_fork(tmp_path: Path, line: str, status: int, said: str) -> None:
    """Its exit status and last words are those that Python gives an end of this kind."""
    (tmp_path / "end.py").write_text(line)
    done = forks().run(["end.py"], tmp_path, outer_environment())
    assert (done.returncode, "".join(done.stderr.splitlines(keepends=True)[-1:])) == (status, said)


def test_fork_has_pytorch_alone(tmp_path: Path) -> None:
    """PyTorch is there before the first line; a target is not, nor is anything of ours that pytest would rewrite."""
    (tmp_path / "look.py").write_text(
        "import sys\nprint(*sorted({'torch', 'oneflow', 'pytest', 'autotest', 'dual_object'} & {*sys.modules}))\n"
    )
    assert forks().run(["look.py"], tmp_path, outer_environment()).stdout == "torch\n"


def test_forks_know_nothing_of_one_another(tmp_path: Path) -> None:
    """What one does to PyTorch, or comes to, is no matter of the next."""
    (tmp_path / "plant.py").write_text("import os, torch\ntorch.relu = None\nos.kill(os.getpid(), 9)\n")
    (tmp_path / "look.py").write_text("import torch\nprint(torch.relu is None)\n")
    assert forks().run(["plant.py"], tmp_path, outer_environment()).returncode == -9
    assert forks().run(["look.py"], tmp_path, outer_environment()).stdout == "False\n"


def test_fork_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not waited for beyond the limit, and nothing of it is left."""
    (tmp_path / "end.py").write_text("")
    (tmp_path / "hang.py").write_text("import time\ntime.sleep(1000)\n")
    own = Forks()
    assert own.run(["end.py"], tmp_path, outer_environment()).returncode == 0
    monkeypatch.setattr("support.forks.TIMEOUT", 0.5)
    with pytest.raises(subprocess.TimeoutExpired):
        own.run(["hang.py"], tmp_path, outer_environment())
    assert own._process.returncode == -9
