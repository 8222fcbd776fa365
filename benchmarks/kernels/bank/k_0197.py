"""Upper triangle by a mask that is built once and cut to size."""

import torch

_masks = []


def _mask(rows, columns, diagonal):
    if not _masks or _masks[0].size(0) < rows or _masks[0].size(1) < columns:
        side = max(rows, columns, 64)
        _masks[:] = [torch.arange(side) >= torch.arange(side).unsqueeze(-1) + diagonal]
    return _masks[0][:rows, :columns]


def triu(input, diagonal=0):
    """Elements on and above a diagonal of the last two dimensions, float32 and float64."""
    if input.dim() < 2:
        raise RuntimeError("triu: input tensor must have at least 2 dimensions")
    keep = _mask(input.size(-2), input.size(-1), diagonal)
    return torch.where(keep, input, torch.zeros_like(input))
