"""What links Inductor's kernels."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dual_object.adapters.torch.executors.linking import prefer_mold


@pytest.fixture
def mold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which an installed mold calls itself ld."""
    program, folder = tmp_path / "bin" / "mold", tmp_path / "libexec" / "mold"
    program.parent.mkdir()
    program.touch(mode=0o755)
    folder.mkdir(parents=True)
    (folder / "ld").symlink_to(program)
    monkeypatch.setenv("PATH", str(program.parent))
    return folder


def told(environment: dict[str, str]) -> dict[str, str]:
    """The environment, as it is then."""
    prefer_mold(environment)
    return environment


def test_where_it_is_installed(mold: Path) -> None:
    """The compiler looks there first; where somebody has said otherwise, there."""
    assert told({}) == {"COMPILER_PATH": str(mold)}
    assert told({"COMPILER_PATH": "elsewhere"}) == {"COMPILER_PATH": "elsewhere"}


def test_where_it_is_not(mold: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a linker that is not there, nor one that no compiler would find."""
    (mold / "ld").unlink()
    assert told({}) == {}
    monkeypatch.setenv("PATH", str(mold))
    assert told({}) == {}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("mold") is None or shutil.which("g++") is None, reason="needs mold and g++")
def test_it_links(tmp_path: Path) -> None:
    """A linker leaves its name in what it links."""
    code = "from dual_object.replay.adapter import load; load('torch:inductor')"
    environment = {name: value for name, value in os.environ.items() if name not in ("CXX", "COMPILER_PATH")}
    subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code], env={**environment, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path)}, check=True
    )
    kernels = list(tmp_path.rglob("*.main.so"))
    assert kernels
    assert all(b"mold " in kernel.read_bytes() for kernel in kernels)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_little_is_compiled_to_learn_of_the_processor(tmp_path: Path) -> None:
    """With a cold cache the first kernel alone includes PyTorch's vectors: that takes 2 s.

    A processor with no more than AVX2 leaves nothing to ask a compiler: then the kernel is the one source.
    """
    code = "from dual_object.replay.adapter import load; load('torch:inductor')"
    environment = {name: value for name, value in os.environ.items() if name != "TORCHINDUCTOR_VEC_ISA_OK"}
    subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code], env={**environment, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path)}, check=True
    )
    sources = list(tmp_path.rglob("*.cpp"))
    [kernel] = [path for path in sources if path.name.endswith(".main.cpp")]
    assert not [path for path in sources if path != kernel and "ATen/cpu/vec" in path.read_text()]
