"""Variance in two passes."""

import torch


def var(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """Variance over `dim`, for float32 and float64."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    unbiased = bool(correction) if correction is not None else unbiased is None or unbiased
    rank = input.dim()
    axes = list(range(rank)) if dim is None else [dim] if isinstance(dim, int) else list(dim) or list(range(rank))
    count = 1
    for one in axes:
        if not -max(rank, 1) <= one < max(rank, 1):
            raise IndexError(f"dim={one} is out of range")
        count *= input.size(one) if rank else 1
    centred = input - input.mean(axes, keepdim=True)
    free = count - 1 if unbiased else count
    return (centred * centred).sum(axes, keepdim) / max(free, 0)
