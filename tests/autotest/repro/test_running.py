"""Scripts that are run in processes of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil

from autotest.names import HOME
from autotest.repro.running import Ended, run_python


def test_how_it_ended(tmp_path: Path) -> None:
    """What a script is given, what it prints, and its status."""
    script = tmp_path / "ends.py"
    script.write_text("import os, sys; print(sys.argv[1:], os.environ['PYTHONPATH']); sys.exit(3)\n", encoding="utf-8")
    ended = run_python([str(script), "a b", "-x"], ["first", "second"])
    assert (ended.status, ended.err) == (3, "")
    assert ended.out.startswith("['a b', '-x'] first:second")


def test_it_is_ended(tmp_path: Path) -> None:
    """With what it has started, once its time is up."""
    script = tmp_path / "hangs.py"
    script.write_text(
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(60)\n",
        encoding="utf-8",
    )
    begun = time.monotonic()
    ended = run_python([str(script)], seconds=3.0)
    assert time.monotonic() - begun < 20
    assert (ended.status, ended.err) == (None, "")
    assert _is_gone(int(ended.out))


def test_a_signal_is_told() -> None:
    """As a negative status."""
    code = "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"
    assert run_python(["-c", code]) == Ended(-signal.SIGTERM, "", "")


def test_it_ends_with_whoever_runs_it(tmp_path: Path) -> None:
    """A script that never ends is not left to keep a core busy when its run is killed."""
    script, pid = tmp_path / "loops.py", tmp_path / "pid"
    script.write_text(
        f"import os\nopen({str(tmp_path / 'new')!r}, 'w').write(str(os.getpid()))\n"
        f"os.rename({str(tmp_path / 'new')!r}, {str(pid)!r})\nwhile True: pass\n",
        encoding="utf-8",
    )
    code = f"from autotest.repro.running import run_python; run_python([{str(script)!r}])"
    python = Path(sys.prefix, "bin", "python")  # what stands in for it in tests ends with its parent anyway
    runner = subprocess.Popen([python, "-c", code], cwd=HOME)  # noqa: S603 - our own interpreter
    try:
        until = time.monotonic() + 30
        while not pid.exists() and time.monotonic() < until:
            time.sleep(0.02)
        looping = int(pid.read_text(encoding="utf-8"))
        assert psutil.pid_exists(looping)
    finally:
        os.kill(runner.pid, signal.SIGKILL)
        runner.wait()
    assert _is_gone(looping)


def _is_gone(pid: int) -> bool:
    """Whether a process ends soon, a zombie being none."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.05)
    return False
