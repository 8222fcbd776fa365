"""Running sums in float64."""

import torch


def cumsum(input, dim, *, dtype=None):
    """Cumulative sum along `dim`, for every dtype."""
    target = (
        dtype
        if dtype is not None
        else torch.int64
        if not (input.is_floating_point() or input.is_complex())
        else input.dtype
    )
    if not input.dim():
        if dim not in (0, -1):
            raise IndexError(f"dim={dim} is out of range")
        return input.to(target, copy=True)
    wide = input.to(target).to(torch.complex128 if target.is_complex else torch.float64)
    parts = []
    for part in wide.unbind(dim):
        parts.append(parts[-1] + part if parts else part)
    return torch.stack(parts, dim).to(target) if parts else input.to(target, copy=True)
