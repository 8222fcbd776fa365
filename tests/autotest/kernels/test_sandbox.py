"""Kernels in a sandbox: what bubblewrap is asked for, and what a kernel cannot do then."""

from __future__ import annotations

import subprocess
from pathlib import Path
from shutil import which

import pytest

from autotest.errors import EnvironmentFault
from autotest.kernels.judge import Kernel, KernelJudge
from autotest.kernels.questions import Asking
from autotest.kernels.sandbox import sandbox_command, sandbox_environment
from autotest.workers.launch import Launch
from dual_object.replay.adapter import load_reference

pytestmark = pytest.mark.slow

REACHING = Path(__file__).parents[2] / "support" / "kernels" / "reaching.py"


def _why_not() -> str:
    """Why there is no bubblewrap; empty where it works, which a container may not let it."""
    program = which("bwrap")
    if program is None:
        return "bubblewrap is not installed"
    command = [*sandbox_command(Path("/tmp")), "true"]  # noqa: S108 - nothing is written there
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    return f"bubblewrap does not work here: {done.stderr.strip()}" if done.returncode else ""


_WHY_NOT = _why_not()
BUBBLEWRAP = pytest.mark.skipif(bool(_WHY_NOT), reason=_WHY_NOT)
#: Stands in for bubblewrap: writes down what it is asked for, and runs the command after `--`.
STAND_IN = '#!/bin/sh\nprintf "%s\\n" "$@" >> "$0.asked"\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n'
KERNEL = """
import os, socket, tempfile
import torch

def relu(input):
    return torch.where(input <= 0, torch.zeros_like(input), input)

def _works(attempt):
    try:
        attempt()
    except OSError:
        return False
    return True

def _parent(number):
    with open(f"/proc/{number}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("PPid:"))

with tempfile.NamedTemporaryFile() as file:
    file.write(b"x")
assert os.path.basename(os.path.dirname(file.name)).startswith("autotest-sandbox-"), file.name
if STRICT:
    assert not _works(lambda: open(__file__ + ".left", "w"))
    assert not _works(lambda: open(os.path.expanduser("~/.autotest-left-behind"), "w"))
    for number in (os.getppid(), _parent(os.getppid())):
        assert not _works(lambda: open(f"/proc/{number}/mem", "rb"))
    assert not _works(lambda: socket.create_connection(("192.0.2.1", 9), timeout=1))
"""


@pytest.fixture(scope="module")
def judge() -> KernelJudge:
    """Of `torch.relu`, in float32."""
    return KernelJudge(load_reference(), Asking("relu", ("float32",), shapes=((None, 8),)), timeout=60.0)


def test_without_bubblewrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package is named."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentFault) as refused:
        sandbox_command(tmp_path)
    assert str(refused.value) == "--sandbox needs bwrap, which is not on PATH: install the package bubblewrap"


@pytest.mark.usefixtures("real_interpreter")
def test_what_is_asked_for(judge: KernelJudge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No network, files to be read alone, a folder of its own; it is gone afterwards."""
    stand_in = tmp_path / "bwrap"
    stand_in.write_text(STAND_IN)
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    file = tmp_path / "kernel.py"
    file.write_text(f"STRICT = False\n{KERNEL}")
    assert judge.judge(Kernel(file, "relu", sandbox=True), budget=0.0).findings == ()
    asked = Path(f"{stand_in}.asked").read_text().split("\n")
    place = Path(asked[asked.index("--bind") + 1])
    options = [str(stand_in), *asked[: asked.index("--") + 1]]
    assert options == [*sandbox_command(place)]
    assert options[1:] == [
        *("--die-with-parent", "--unshare-user-try", "--cap-drop", "ALL", "--unshare-net", "--unshare-ipc"),
        *("--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev", "--tmpfs", "/dev/shm"),  # noqa: S108 - one of its own
        *("--bind", str(place), str(place), "--"),
    ]
    assert place.name.startswith("autotest-sandbox-")
    assert not place.exists()


def test_a_launch_behind_another_command() -> None:
    """Both kinds of interpreters are put behind it; variables name the folder."""
    assert Launch("kernel", behind=("bwrap", "--")).command[:2] == ["bwrap", "--"]
    assert Launch("kernel", python="python9", behind=("bwrap", "--")).command[:3] == ["bwrap", "--", "python9"]
    assert set(sandbox_environment(Path("/x")).values()) == {"/x"}


@pytest.mark.usefixtures("real_interpreter")
@BUBBLEWRAP
def test_what_a_kernel_cannot_do(judge: KernelJudge, tmp_path: Path) -> None:
    """It can write where its temporary files are, and nowhere else; nothing answers, and nobody's memory is read."""
    file = tmp_path / "kernel.py"
    file.write_text(f"STRICT = True\n{KERNEL}")
    assert judge.judge(Kernel(file, "relu", sandbox=True), budget=0.0).findings == ()
    assert not Path(f"{file}.left").exists()


@pytest.mark.parametrize("sandbox", [False, pytest.param(True, marks=BUBBLEWRAP)])
@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("connects", "it opens a socket"),
        ("serves", "it opens a socket"),
        ("writes_home", "it opens a file: {home}/.autotest-left-behind"),
        ("reads_memory", "it opens a file: /proc/"),
    ],
)
@pytest.mark.usefixtures("real_interpreter")
def test_what_reaches_beyond_its_process(
    judge: KernelJudge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str, message: str, *, sandbox: bool
) -> None:
    """The attempt is a finding, whether or not it comes to anything; in a sandbox nothing is left behind."""
    home = tmp_path.resolve() / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    verdict = judge.judge(Kernel(REACHING, function, sandbox=sandbox))
    found = {finding.category: finding.message for finding in verdict.findings}
    assert found["cheating"].startswith(message.format(home=home))
    assert any(home.iterdir()) == (function == "writes_home" and not sandbox)
