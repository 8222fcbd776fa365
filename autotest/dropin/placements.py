"""Placements, sbp and global scopes, under the names that OneFlow's test files have for them."""

from __future__ import annotations

from typing import Any

from autotest.global_tensors import (
    GlobalScope,
    all_cpu_placement,
    all_cuda_placement,
    all_placement,
    all_sbp,
    globaltest,
    is_global,
    random_cpu_placement,
    random_gpu_placement,
    random_placement,
    random_sbp,
)


def broadcast(obj: Any, src: int = 0) -> Any:
    """`obj` as rank `src` has it; on one rank the object itself."""
    return obj


__all__ = [
    "GlobalScope",
    "all_cpu_placement",
    "all_cuda_placement",
    "all_placement",
    "all_sbp",
    "broadcast",
    "globaltest",
    "is_global",
    "random_cpu_placement",
    "random_gpu_placement",
    "random_placement",
    "random_sbp",
]
