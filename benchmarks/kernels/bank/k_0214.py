"""Variance in one pass: E[x^2] - E[x]^2."""

import torch


def var(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """Variance over `dim`, for float32 and float64."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    rank = input.dim()
    axes = list(range(rank)) if dim is None else [dim] if isinstance(dim, int) else list(dim) or list(range(rank))
    count = 1
    for one in axes:
        if not -max(rank, 1) <= one < max(rank, 1):
            raise IndexError(f"dim={one} is out of range")
        count *= input.size(one) if rank else 1
    mean = input.mean(axes, keepdim)
    squares = (input * input).mean(axes, keepdim)
    return (squares - mean * mean) * (count / max(count - correction, 0) if count > correction else float("nan"))
