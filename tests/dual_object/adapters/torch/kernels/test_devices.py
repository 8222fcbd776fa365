"""Kernels for a GPU, where none is."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import torch

from dual_object.adapters.torch.kernels.adapter import Adapter
from dual_object.adapters.torch.kernels.devices import moved, require, require_device
from dual_object.errors import TargetError
from dual_object.program.values import Array
from dual_object.replay.asked.kernels import DEVICE


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


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("tpu", "devices=tpu, but should be some of cpu, cuda [--devices]"),
        ("cuda", "devices=cuda, but there is no CUDA device: judge it where one is [--devices]"),
    ],
)
def test_devices_that_are_not_there(device: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence each; the CPU always is."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    require("cpu")
    with pytest.raises(TargetError) as refused:
        require(device)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    "tensor",
    [
        torch.arange(12.0).view(3, 4),
        torch.arange(12.0).view(3, 4).t(),
        torch.arange(24.0).view(4, 6)[1:, ::2],
        torch.arange(3.0).expand(5, 3),
        torch.tensor(2.0),
        torch.empty(0, 3),
    ],
)
def test_what_is_moved_lies_as_it_did(tensor: torch.Tensor) -> None:
    """In memory of its own, with the same strides."""
    there = moved(tensor, torch.device("cpu"))
    assert there.stride() == tensor.stride()
    assert torch.equal(there, tensor)
    assert not tensor.numel() or there.data_ptr() != tensor.data_ptr()


def test_inputs_lie_on_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """They and what is asked of the CPU; on the CPU itself they share memory with what they are made of."""
    data: Array = np.arange(6, dtype=np.float32).reshape(2, 3)
    tensor, shares = Adapter().tensor(data, "float32")
    assert (tensor.device.type, shares) == ("cpu", True)
    asked: list[str] = []

    def noted(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
        asked.append(str(device))
        return tensor.clone()

    monkeypatch.setenv(DEVICE, "cuda")
    monkeypatch.setattr("dual_object.adapters.torch.kernels.adapter.moved", noted)
    adapter = Adapter()
    tensor, shares = adapter.tensor(data, "float32")
    assert (asked, shares) == (["cuda"], False)
    assert [adapter.describe(torch.ones(2, device=device))[2] for device in ("cpu", "meta")] == ["elsewhere"] * 2
    assert adapter.device("cpu") == torch.device("cuda")
    assert adapter.device("cuda:1") == torch.device("cuda:1")
