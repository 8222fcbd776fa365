"""The folder of an actor: what a killed one has left goes with the next."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest

from autotest.campaign.remote.scratch import Scratch
from support.runs import INTERPRETER

_HOLDS = """
import time
from autotest.campaign.remote.scratch import Scratch
scratch = Scratch()
(scratch.path / "records.jsonl").write_text("{}")
print(scratch.path, flush=True)
time.sleep(600)
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the folders are made."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_what_a_killed_actor_leaves(home: Path) -> None:
    """It stays for as long as its process runs, and goes with the next folder that is made."""
    with subprocess.Popen([INTERPRETER, "-c", _HOLDS], stdout=subprocess.PIPE, text=True) as actor:  # noqa: S603 - our own interpreter
        assert actor.stdout is not None
        left = Path(actor.stdout.readline().strip())
        assert left.parent == home
        first = Scratch()
        assert (left / "records.jsonl").exists()
        actor.kill()
    second = Scratch()
    assert sorted(home.iterdir()) == sorted([first.path, second.path])
    first.close()
    second.close()
    assert list(home.iterdir()) == []


def test_folders_of_others(home: Path) -> None:
    """What has no lock is not an actor's, or not yet."""
    (home / "autotest-slot-new").mkdir()
    (home / "autotest-slot-file").touch()
    Scratch().close()
    assert {path.name for path in home.iterdir()} == {"autotest-slot-new", "autotest-slot-file"}
