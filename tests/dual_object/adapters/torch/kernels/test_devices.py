"""Kernels for a GPU, where none is."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
import torch

from dual_object.adapters.torch.kernels.devices import require_device
from dual_object.errors import TargetError


@pytest.fixture
def of_triton(tmp_path: Path) -> str:
    """A file that imports Triton inside a function."""
    file = tmp_path / "kernel.py"
    file.write_text("def relu(input):\n    import triton.language as tl\n    return tl\n")
    return str(file)


def test_no_device(of_triton: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said, unless there is one, or Triton interprets."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(TargetError) as refused:
        require_device(of_triton)
    assert str(refused.value) == (
        f"{of_triton} imports triton, but there is no CUDA device: judge it where one is, or with TRITON_INTERPRET=1"
    )
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    require_device(of_triton)
    monkeypatch.delenv("TRITON_INTERPRET")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    require_device(of_triton)


def test_no_triton(of_triton: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """That is said first."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(TargetError) as refused:
        require_device(of_triton)
    assert str(refused.value) == (
        f"{of_triton} imports triton, which is not installed: pip install triton, where a CUDA device is"
    )


@pytest.mark.parametrize("text", ["import torch\nfrom . import triton\n", "def (", "x = 'import triton'\n"])
def test_other_files(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever imports no Triton is imported, which tells what is no Python."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    (tmp_path / "kernel.py").write_text(text)
    require_device(str(tmp_path / "kernel.py"))
