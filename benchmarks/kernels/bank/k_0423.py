"""Mean with an accumulator that does not overflow."""

import torch


def mean(input, dim=None, keepdim=False, *, dtype=None):
    """Mean over `dim`, for floating dtypes."""
    if dtype is not None:
        if not dtype.is_floating_point and not dtype.is_complex:
            raise RuntimeError("mean: a floating dtype is expected")
        input = input.to(dtype)
    wide = input.float() if input.dtype in (torch.float16, torch.bfloat16) else input
    axes = (
        list(range(input.dim()))
        if dim is None
        else [dim]
        if isinstance(dim, int)
        else list(dim) or list(range(input.dim()))
    )
    total = wide.sum(axes, keepdim)
    count = input.numel() // total.numel() if total.numel() else 1
    return total / count if count else total / 0.0
