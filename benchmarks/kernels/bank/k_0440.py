"""Matrix product over tiles of the inner dimension."""

import torch

_TILE = 32


def mm(input, mat2):
    """Product of two matrices, for float32 and float64."""
    if input.dim() != 2 or mat2.dim() != 2:
        raise RuntimeError("mm: two matrices are expected")
    if input.size(1) != mat2.size(0):
        raise RuntimeError(f"mm: shapes {tuple(input.shape)} and {tuple(mat2.shape)} cannot be multiplied")
    if input.dtype != mat2.dtype:
        raise RuntimeError("mm: one dtype is expected")
    out = torch.einsum("ik,kj->ij", input[:, :_TILE], mat2[:_TILE])
    for start in range(_TILE, input.size(1), _TILE):
        span = slice(start, start + _TILE)
        out = out + torch.einsum("ik,kj->ij", input[:, span], mat2[span])
    return out
