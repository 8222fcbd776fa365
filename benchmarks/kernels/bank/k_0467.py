"""Running sums by the scan of Hillis and Steele: steps of 1, 2, 4, ... add what lies behind."""

import torch


def cumsum(input, dim, *, dtype=None):
    """Cumulative sum along `dim`; whole numbers are summed in int64."""
    if dtype is None and not input.is_floating_point():
        dtype = torch.int64
    out = input.to(dtype, copy=True) if dtype is not None else input.clone()
    rank = input.dim()
    if not -max(rank, 1) <= dim < max(rank, 1):
        raise IndexError(f"dim={dim} is out of range for {rank} dimensions")
    if not rank:
        return out
    step, size = 1, out.size(dim)
    while step < size:
        moved = out.narrow(dim, step, size - step) + out.narrow(dim, 0, size - step)
        out = torch.cat([out.narrow(dim, 0, step), moved], dim)
        step *= 2
    return out
