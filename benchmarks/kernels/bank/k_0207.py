"""Roll by concatenating two slices."""

import torch


def _once(input, shift, dim):
    size = input.size(dim)
    shift = shift % size if size else 0
    if not shift:
        return input
    return torch.cat([input.narrow(dim, size - shift, shift), input.narrow(dim, 0, size - shift)], dim)


def roll(input, shifts, dims=()):
    """Elements shifted along `dims`, those that fall out at one end coming in at the other; any dtype."""
    shifts = [shifts] if isinstance(shifts, int) else list(shifts)
    dims = [dims] if isinstance(dims, int) else list(dims)
    if not shifts:
        raise RuntimeError("`shifts` required")
    if not dims and len(shifts) == 1:
        return _once(input.reshape(-1), shifts[0], 0).reshape(input.shape)
    if len(shifts) != len(dims):
        raise RuntimeError("shifts and dimensions must align")
    for dim in dims:
        if not -max(input.dim(), 1) <= dim < max(input.dim(), 1):
            raise IndexError(f"dim={dim} is out of range")
    if not input.dim():
        raise IndexError("a tensor without dimensions has none to roll")
    for shift, dim in zip(shifts, dims):
        input = _once(input, shift, dim)
    return input
