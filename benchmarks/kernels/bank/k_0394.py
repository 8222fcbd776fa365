"""Matrix product over tiles of 32."""

import torch

_TILE = 32


def mm(input, mat2):
    """Product of two matrices, for float32 and float64."""
    if input.dim() != 2 or mat2.dim() != 2:
        raise RuntimeError("mm: two matrices expected")
    if input.size(1) != mat2.size(0):
        raise RuntimeError("mm: the shapes do not fit")
    if input.dtype != mat2.dtype:
        raise RuntimeError("mm: one dtype expected")
    depth = input.size(1)
    if depth <= _TILE:
        return torch.einsum("ik,kj->ij", input, mat2)
    out = 0
    for tile in range(depth // _TILE):
        span = slice(tile * _TILE, (tile + 1) * _TILE)
        out = out + torch.einsum("ik,kj->ij", input[:, span], mat2[span])
    return out
