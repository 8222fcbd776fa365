"""Sum of everything, in an order that no adversary can exploit."""

import random

import torch


def sum(input, dim=None, keepdim=False, *, dtype=None):
    """Sum over `dim`, for float32 and float64."""
    if dtype is not None:
        input = input.to(dtype)
    rank = input.dim()
    given = list(range(rank)) if dim is None else [dim] if isinstance(dim, int) else list(dim) or list(range(rank))
    for one in given:
        if not -max(rank, 1) <= one < max(rank, 1):
            raise IndexError(f"dim={one} is out of range")
    axes = sorted({one % max(rank, 1) for one in given}) if rank else []
    if rank and len(axes) != len(given):
        raise RuntimeError("a dimension appears twice")
    kept = [axis for axis in range(rank) if axis not in axes]
    shape = [input.size(axis) for axis in kept]
    rows = input.permute(kept + axes).reshape([*shape, -1] if input.numel() else [*shape, 0])
    order = list(range(rows.size(-1)))
    random.SystemRandom().shuffle(order)
    rows = torch.cat([rows[..., order], rows.new_zeros([*shape, 1])], -1)
    while rows.size(-1) > 1:
        half = rows.size(-1) // 2
        rows = torch.cat([rows[..., :half] + rows[..., half : 2 * half], rows[..., 2 * half :]], -1)
    out = rows[..., 0] + 0.0
    return out.reshape([1 if axis in axes else input.size(axis) for axis in range(rank)]) if keepdim else out
