"""Memory of target workers: who may hold how much, and what becomes of a process that holds more."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from autotest.workers import memory
from autotest.workers.memory import Watch, machine_memory, memory_limit, words

pytestmark = pytest.mark.usefixtures("real_interpreter")

GIB = 1 << 30


@pytest.mark.parametrize(
    ("machine", "asked", "workers", "limit"),
    [
        (32, None, 1, 16 * GIB),
        (32, None, 2, 8 * GIB),
        (32, None, 16, 4 * GIB),  # a healthy worker needs some
        (6, None, 1, 3 * GIB),
        (6, None, 4, 3 * GIB),  # but never more than half of what there is
        (32, 5, 16, 5),
        (32, 0, 1, None),
    ],
)
def test_limit(monkeypatch: pytest.MonkeyPatch, machine: int, asked: int | None, workers: int, limit: int) -> None:
    """What is asked holds for each worker; without that they share half of the memory."""
    monkeypatch.setattr(memory, "machine_memory", lambda: machine * GIB)
    assert memory_limit(asked, workers) == limit


def group(root: Path, line: str, limits: dict[str, str]) -> list[int]:
    """The limits that a process in a control group meets, with these files below /sys/fs/cgroup."""
    (root / "proc" / "self").mkdir(parents=True)
    (root / "proc" / "self" / "cgroup").write_text(f"1:name=systemd:/x\n8:pids:/x\n{line}\n")
    for name, text in limits.items():
        path = root / "sys" / "fs" / "cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    return sorted(memory._group_limits(root))


@pytest.mark.parametrize(
    ("line", "limits", "met"),
    [
        ("0::/a/b", {"a/b/memory.max": "max", "a/memory.max": "2000", "memory.max": "max"}, [2000]),
        ("0::/a", {"a/memory.max": "3000", "x/memory.max": "7"}, [3000]),
        ("0::/../host/of/a/container", {"memory.max": "4000"}, [4000]),
        (
            "4:cpu,memory:/a",
            {"memory/a/memory.limit_in_bytes": "5000", "memory/memory.limit_in_bytes": "9000"},
            [5000, 9000],
        ),
        ("4:cpu:/a", {"cpu/a/memory.limit_in_bytes": "5000"}, []),
    ],
)
def test_control_groups(tmp_path: Path, line: str, limits: dict[str, str], met: list[int]) -> None:
    """Groups of both versions count, with those around them; `max` is no limit."""
    assert group(tmp_path, line, limits) == met


def test_machine_without_control_groups(tmp_path: Path) -> None:
    """Where there are none, there is no limit of theirs; a machine has no more memory than it has."""
    assert list(memory._group_limits(tmp_path)) == []
    assert 0 < machine_memory() <= psutil.virtual_memory().total


@pytest.mark.parametrize(
    ("size", "down", "up"),
    [
        (5, "5 bytes", "5 bytes"),
        (2048, "2 KiB", "2 KiB"),
        (512 << 20, "512 MiB", "512 MiB"),
        (GIB * 11 // 10, "1.1 GiB", "1.1 GiB"),
        (GIB + 4096, "1 GiB", "1.01 GiB"),
    ],
)
def test_words(size: int, down: str, up: str) -> None:
    """Sizes in words; one page more than a limit reads as more."""
    assert (words(size), words(size, up=True)) == (down, up)


HUNGRY = "held = [b'x' * (16 << 20) for _ in range(100)]; import time; time.sleep(60)"


def test_watch_ends_what_holds_too_much() -> None:
    """A process that fills memory as fast as it can is ended soon after its limit; what it held is known."""
    with subprocess.Popen([sys.executable, "-c", HUNGRY]) as process:  # noqa: S603 - our own interpreter
        watch = Watch(process, 200 << 20)
        assert process.wait(timeout=30) < 0
        watch.close()
    assert watch.overrun is not None
    assert 200 << 20 < watch.overrun.held < 1200 << 20
    assert watch.overrun.limit == 200 << 20
    assert watch.size() == 0


def test_watch_follows_the_process_that_works() -> None:
    """Where another process works than the one that was started, its memory counts, and the started one is ended."""
    idle = "import time; time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", idle]) as process:  # noqa: S603 - our own interpreter
        watch = Watch(process, 1 << 40)
        with subprocess.Popen([sys.executable, "-c", idle]) as other:  # noqa: S603 - our own interpreter
            watch.follow(other.pid)
            time.sleep(0.2)
            watch.limit = 1
            assert process.wait(timeout=30) < 0
            assert other.poll() is None
            other.kill()
        watch.follow(other.pid)  # one that has ended is no error
        watch.close()


def test_watch_of_one_that_has_gone() -> None:
    """Who has ended and been told of before it was looked at held nothing; its end is told elsewhere."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    watch = Watch(process, None)
    assert (watch.size(), watch.overrun) == (0, None)
    watch.close()


@pytest.mark.parametrize("limit", [None, 4 * GIB])
def test_watch_lets_live(limit: int | None) -> None:
    """What stays below its limit, or has none, goes on."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as process:
        watch = Watch(process, limit)
        time.sleep(3 * memory.INTERVAL)
        assert process.poll() is None
        assert watch.overrun is None
        assert watch.size() > 0
        watch.close()
        process.kill()
