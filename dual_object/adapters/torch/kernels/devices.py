"""Kernels that are for a GPU: whether they can run here, before their files are imported."""

from __future__ import annotations

import ast
import importlib.util
import os
from pathlib import Path

import torch

from dual_object.errors import TargetError


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


def _imports_triton(file: Path) -> bool:
    """Whether a file imports Triton anywhere; of what is no Python its import tells."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return False
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level]
    return any(name.partition(".")[0] == "triton" for name in names)


__all__ = ["require_device"]
