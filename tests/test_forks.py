"""A fork of a process that has imported PyTorch is to a test what an interpreter of its own would be."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from support import preloaded
from support.forks import Forks, forks, outer_environment

TELL = """
import atexit, os, sys
atexit.register(print, "at exit", file=sys.stderr)
print(sys.argv, os.getcwd(), sys.path, __name__, sorted(os.environ), flush=True)
print(sys.stdin.read(), "to standard error", file=sys.stderr)
sys.exit(3)
"""


@pytest.mark.parametrize("first", ["tell.py", "-m", "-c"])
def test_fork_is_like_an_interpreter(tmp_path: Path, first: str) -> None:
    """What it runs sees the arguments, folder, path, variables and streams that `python` would give it, and ends so."""
    (tmp_path / "tell.py").write_text(TELL)
    given = {"-m": ["-m", "tell"], "-c": ["-u", "-c", TELL], "tell.py": [str(tmp_path / "tell.py")]}
    arguments = [*given[first], "one"]
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
    assert (merged.stdout, merged.stderr) == (real.stdout + real.stderr, None)


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


def test_what_a_fork_has(tmp_path: Path) -> None:
    """PyTorch, pytest and ours are there before the first line; a target is not."""
    names = ("torch", "pytest", "autotest.run.runner", "reports.page.index", "oneflow", "jax", "paddle", "onnxruntime")
    (tmp_path / "look.py").write_text(f"import sys\nprint(*[name for name in {names} if name in sys.modules])\n")
    assert forks().run(["look.py"], tmp_path, outer_environment()).stdout.split() == [*names[:4]]


REWRITTEN = """
import sys
from _pytest.assertion.rewrite import AssertionRewritingHook

ours = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in ("autotest", "reports")}

def test_loader():
    assert len(ours) > 100
    assert [name for name, module in ours.items() if not isinstance(module.__loader__, AssertionRewritingHook)] == []
"""


def test_what_a_fork_has_is_rewritten(tmp_path: Path) -> None:
    """Ours are in a fork as they are in a pytest that has imported them: with its assertions, and without a warning."""
    (tmp_path / "test_loader.py").write_text(REWRITTEN)
    done = forks().run(["-m", "pytest", "-W", "error", "-q", "test_loader.py"], tmp_path, outer_environment())
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("place", ["mine", "."])
def test_package_of_another_is_found_before_ours(tmp_path: Path, place: str) -> None:
    """What has the name of a package of ours, and stands before it on the path, is what a fork imports."""
    package = tmp_path / place / "reports"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("X = 1\n")
    (tmp_path / "look.py").write_text("import reports, autotest\nprint(reports.X, autotest.__file__)\n")
    variables = {**outer_environment(), "PYTHONPATH": str(tmp_path / place)}
    done = forks().run(["look.py"], tmp_path, variables)
    assert done.stdout == f"1 {preloaded.ROOT}/autotest/__init__.py\n", done.stderr


def test_forks_know_nothing_of_one_another(tmp_path: Path) -> None:
    """What one does to PyTorch, or comes to, is no matter of the next."""
    (tmp_path / "plant.py").write_text("import os, torch\ntorch.relu = None\nos.kill(os.getpid(), 9)\n")
    (tmp_path / "look.py").write_text("import torch\nprint(torch.relu is None)\n")
    assert forks().run(["plant.py"], tmp_path, outer_environment()).returncode == -9
    assert forks().run(["look.py"], tmp_path, outer_environment()).stdout == "False\n"


NEST = """
import os, subprocess, sys
print('torch' in sys.modules, flush=True)
if len(sys.argv) == 1:
    read, write = os.pipe()
    command = [sys.executable, __file__, str(write)]
    variables = {**os.environ, "OMP_NUM_THREADS": "3"}
    done = subprocess.run(command, input="given", text=True, pass_fds=[write], env=variables)
    print(done.returncode, os.read(read, 99), flush=True)
else:
    import torch
    print(torch.get_num_threads(), sys.stdin.read(), os.getpid() == os.getsid(0), flush=True)
    os.write(int(sys.argv[1]), b"written")
    os.kill(os.getpid(), 15)
"""


def test_forks_start_forks(tmp_path: Path) -> None:
    """What a fork starts as `sys.executable` is a fork: it has its files, its number of threads, and its way to end."""
    (tmp_path / "nest.py").write_text(NEST)
    done = forks().run(["nest.py"], tmp_path, outer_environment())
    assert done.stdout == "True\nTrue\n3 given True\n-15 b'written'\n", done.stderr


def test_worker_of_oneflow_holds_no_pytorch(tmp_path: Path) -> None:
    """It is forked from another process than all others are."""
    package = tmp_path / "autotest" / "workers"
    package.mkdir(parents=True)
    for module in (package, package.parent):
        (module / "__init__.py").write_text("")
    (package / "server.py").write_text("import sys\nprint('torch' in sys.modules, sys.argv[1:])\n")
    for target, forked in (("oneflow", False), ("torch", True), ("mine:Adapter", True)):
        done = forks().run(["-m", "autotest.workers.server", target], tmp_path, {})
        assert done.stdout == f"{forked} {[target]}\n", done.stderr


def test_script_of_oneflow_is_no_fork(tmp_path: Path) -> None:
    """A fork would die of its graphs now and then."""
    (tmp_path / "repro.py").write_text("import sys\nprint('torch' in sys.modules)\nif 0:\n    import oneflow\n")
    for arguments in (["repro.py"], ["-u", "repro.py"]):
        assert forks().run(arguments, tmp_path, {}).stdout == "False\n"


def test_script_of_a_stand_in_is_a_fork(tmp_path: Path) -> None:
    """What imports a module beside it, which is called as OneFlow is, runs nothing of OneFlow's."""
    (tmp_path / "oneflow.py").write_text("import torch\n")
    (tmp_path / "repro.py").write_text("import sys\nprint('torch' in sys.modules)\nimport oneflow\n")
    assert forks().run(["repro.py"], tmp_path, {}).stdout == "True\n"


def _running(folder: Path) -> list[int]:
    """The processes that run in a folder."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.cwd() == str(folder):
                found.append(process.pid)
    return found


def _wait_for(count: int, folder: Path) -> None:
    deadline = time.monotonic() + 30
    while len(_running(folder)) != count and time.monotonic() < deadline:
        time.sleep(0.1)
    assert len(_running(folder)) == count


HANG = """
import os, subprocess, sys, time
if len(sys.argv) == 1:
    subprocess.Popen([sys.executable, __file__, "child"])
time.sleep(1000)
"""


def test_fork_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not waited for beyond the limit, nothing of it or of its forks is left, and the next one runs."""
    (tmp_path / "end.py").write_text("")
    (tmp_path / "hang.py").write_text(HANG)
    monkeypatch.setattr("support.forks.TIMEOUT", 2.0)
    with pytest.raises(subprocess.TimeoutExpired):
        forks().run(["hang.py"], tmp_path, outer_environment())
    monkeypatch.undo()
    _wait_for(0, tmp_path)
    assert forks().run(["end.py"], tmp_path, outer_environment()).returncode == 0


#: Forks without having imported anything.
BARE = f"""
import os, sys

sys.path.insert(0, {str(Path(__file__).parent)!r})
from support.fork_server import become, run, serve

kind, folder, owner = sys.argv[1:]
asked, received = serve(f"{{folder}}/{{kind}}", int(owner), os.fork)
become(asked, received)
run(asked)
"""


def test_nothing_is_left_of_forks(tmp_path: Path) -> None:
    """Who asks for them in the same folder shares them. With their owner they end, and what they have forked; their
    folder is taken away.
    """
    (tmp_path / "hang.py").write_text(HANG)
    (tmp_path / "bare.py").write_text(BARE)
    (tmp_path / "end.py").write_text("import os\nprint(os.getppid())\n")
    owner = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    shared = [Forks(tmp_path / "forks", owner.pid, str(tmp_path / "bare.py")) for _ in range(2)]
    server, other = (own.run(["end.py"], tmp_path, outer_environment()).stdout for own in shared)
    assert server == other
    assert psutil.Process(int(server)).cmdline()[1] == str(tmp_path / "bare.py")
    line = [str(shared[1].python), "hang.py"]
    running = subprocess.Popen(line, cwd=tmp_path, env=outer_environment(), stderr=subprocess.PIPE)  # noqa: S603 - our own interpreter
    _wait_for(4, tmp_path)  # two launchers, two forks
    owner.communicate(b"\n")
    assert {*running.communicate()[1].splitlines()} == {b"the process that forks has ended"}
    assert running.returncode == 1
    _wait_for(0, tmp_path)
    assert not (tmp_path / "forks").exists()
    assert shared[1].servers == []
    assert [os.waitpid(server, 0)[1] for server in shared[0].servers] == [0, 0]


def test_workers_of_xdist_share_forks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of one run have one folder, whose owner is what has started them; without xdist we own one."""
    monkeypatch.setattr("support.forks.Forks", lambda *given: given)
    monkeypatch.setenv("PYTEST_XDIST_TESTRUNUID", "1a2b")
    assert forks.__wrapped__() == (Path(tempfile.gettempdir()) / "autotest-forks-1a2b", os.getppid())
    monkeypatch.delenv("PYTEST_XDIST_TESTRUNUID")
    folder, owner = forks.__wrapped__()
    assert (owner, [*folder.iterdir()]) == (os.getpid(), [])
    folder.rmdir()


def test_no_forks_beside_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They could not use it: everything starts by itself."""
    monkeypatch.setattr("support.forks.GPU", tmp_path)
    made = Forks(tmp_path / "forks", os.getpid())
    assert (made.python, made.servers) == (Path(sys.executable), [])
