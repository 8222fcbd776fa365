"""Running sums by doubling steps."""

import torch


def cumsum(input, dim, *, dtype=None):
    """Cumulative sum along `dim`, for float32 and float64."""
    if dtype is not None:
        input = input.to(dtype)
    out = torch.atleast_1d(input) + 0.0
    if not -out.dim() <= dim < out.dim():
        raise IndexError(f"dim={dim} is out of range")
    step, size = 1, out.size(dim)
    while step < size:
        head = out.narrow(dim, 0, step)
        out = torch.cat([head, out.narrow(dim, step, size - step) + out.narrow(dim, 0, size - step)], dim)
        step *= 2
    return out
