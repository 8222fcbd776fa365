"""The devices that kernels are for: whether these are here, before a kernel's file is imported, and tensors there."""

from __future__ import annotations

import ast
import importlib.util
import os
from pathlib import Path

import torch

from dual_object.errors import TargetError

#: On which kernels can be asked.
DEVICES = ("cpu", "cuda")


def require_device(file: str) -> None:
    """Raise TargetError, in one sentence, where a file imports Triton and there is no Triton or no GPU for it.

    With `TRITON_INTERPRET=1` Triton itself runs kernels on the CPU.
    """
    if not _imports_triton(Path(file)):
        return
    if importlib.util.find_spec("triton") is None:
        raise TargetError(f"{file} imports triton, which is not installed: pip install triton, where a CUDA device is")
    if os.environ.get("TRITON_INTERPRET") != "1" and not torch.cuda.is_available():
        raise TargetError(
            f"{file} imports triton, but there is no CUDA device: judge it where one is, or with TRITON_INTERPRET=1"
        )


def require(device: str) -> None:
    """Raise TargetError, in one sentence, for a device that no kernel is asked on, or that is not here."""
    if device not in DEVICES:
        raise TargetError(f"devices={device}, but should be some of {', '.join(DEVICES)} [--devices]")
    if device == "cuda" and not torch.cuda.is_available():
        raise TargetError("devices=cuda, but there is no CUDA device: judge it where one is [--devices]")


def moved(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """The tensor on a device, where it lies as it does here: strided, expanded, whatever lies between its elements."""
    if not tensor.numel():
        return tensor.to(device)
    extent = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    memory = tensor.as_strided((extent,), (1,), tensor.storage_offset()).to(device, copy=True)
    return memory.as_strided(tensor.shape, tensor.stride())


def _imports_triton(file: Path) -> bool:
    """Whether a file imports Triton anywhere; of what is no Python its import tells."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return False
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level]
    return any(name.partition(".")[0] == "triton" for name in names)


__all__ = ["DEVICES", "moved", "require", "require_device"]
