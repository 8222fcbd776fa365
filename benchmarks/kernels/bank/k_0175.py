"""Sum by halving: pairs are added until one is left."""

import torch


def _halve(input, dim):
    size = input.size(dim)
    if size == 0:
        return input.new_zeros([length for axis, length in enumerate(input.shape) if axis != dim])
    while size > 1:
        half = size // 2
        low = input.narrow(dim, 0, half) + input.narrow(dim, half, half)
        input = torch.cat([low, input.narrow(dim, 2 * half, size - 2 * half)], dim) if size % 2 else low
        size = input.size(dim)
    return input.squeeze(dim)


def sum(input, dim=None, keepdim=False, *, dtype=None):
    """Sum over `dim`, for float32 and float64."""
    if dtype is not None:
        input = input.to(dtype)
    rank = input.dim()
    if rank == 0:
        for one in [dim] if isinstance(dim, int) else dim or []:
            if one not in (0, -1):
                raise IndexError(f"dim={one} is out of range")
        return input.clone()
    if isinstance(dim, int):
        if not -rank <= dim < rank:
            raise IndexError(f"dim={dim} is out of range for {rank} dimensions")
        out = _halve(input, dim % rank)
        return out.unsqueeze(dim % rank) if keepdim else out
    axes = sorted({axis % rank for axis in dim}, reverse=True) if dim else list(reversed(range(rank)))
    if dim:
        if any(not -rank <= axis < rank for axis in dim):
            raise IndexError(f"dim={dim} is out of range for {rank} dimensions")
        if len(axes) != len(dim):
            raise RuntimeError("a dimension appears twice")
    for axis in axes:
        input = _halve(input, axis)
    return input
