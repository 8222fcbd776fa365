"""Maximum by a tournament along one dimension."""

import torch


def amax(input, dim=(), keepdim=False):
    """Largest elements over `dim`, for float32 and float64; NaN wins."""
    rank = input.dim()
    given = [dim] if isinstance(dim, int) else list(dim)
    for one in given:
        if not -max(rank, 1) <= one < max(rank, 1):
            raise IndexError(f"dim={one} is out of range")
    axes = [one % max(rank, 1) for one in given]
    if len(set(axes)) != len(axes):
        raise RuntimeError("a dimension appears twice")
    axes = sorted(axes or range(rank), reverse=True) if rank else []
    out = input
    for axis in axes:
        if out.size(axis) == 0:
            raise IndexError("amax: expected reduction dim to have a size")
        while out.size(axis) > 1:
            size = out.size(axis)
            half = size // 2
            won = torch.maximum(out.narrow(axis, 0, half), out.narrow(axis, half, half))
            out = torch.cat([won, out.narrow(axis, 2 * half, size - 2 * half)], axis)
        out = out if keepdim else out.squeeze(axis)
    return out
