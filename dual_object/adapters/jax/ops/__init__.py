"""What JAX spells otherwise than PyTorch: small functions of arrays, named and called as PyTorch's are, by family.

The rows of `dialect.json` with `code` name them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dual_object.adapters.jax.ops import (
    activations,
    arithmetic,
    convolution,
    creation,
    indexing,
    linear_algebra,
    losses,
    normalization,
    pooling,
    reductions,
    shapes,
    sorting,
)

FAMILIES = (
    activations,
    arithmetic,
    convolution,
    creation,
    indexing,
    linear_algebra,
    losses,
    normalization,
    pooling,
    reductions,
    shapes,
    sorting,
)


def functions() -> dict[str, Callable[..., Any]]:
    """All of them, as rows name them: `reductions.sum`."""
    named = ((family.__name__.rpartition(".")[2], family) for family in FAMILIES)
    return {f"{name}.{function}": getattr(family, function) for name, family in named for function in family.__all__}


__all__ = ["FAMILIES", "functions"]
