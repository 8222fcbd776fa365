"""Roll by taking elements at places that are counted around."""

import torch


def roll(input, shifts, dims=()):
    """Elements moved along `dims`, around the ends; every dtype."""
    shifts = [shifts] if isinstance(shifts, int) else list(shifts)
    dims = [dims] if isinstance(dims, int) else list(dims)
    if not shifts:
        raise RuntimeError("roll: shifts are required")
    if not dims and len(shifts) == 1:
        return roll(input.reshape(-1), shifts, [0]).reshape(input.shape)
    if len(shifts) != len(dims):
        raise RuntimeError(f"roll: {len(shifts)} shifts and {len(dims)} dimensions must align")
    for dim in dims:
        if not -input.dim() <= dim < input.dim():
            raise IndexError(f"roll: dim={dim} is out of range")
    out = input
    for shift, dim in zip(shifts, dims):
        size = input.size(dim)
        out = out.index_select(dim, torch.remainder(torch.arange(size) - shift, max(size, 1)))
    return out
