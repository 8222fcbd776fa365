"""Product by a chain of multiplications."""

import torch


def prod(input, dim=None, keepdim=False, *, dtype=None):
    """Product over `dim`, for float32 and float64."""
    if dtype is not None:
        input = input.to(dtype)
    rows = input.reshape(-1) if dim is None or not input.dim() else input
    along = 0 if dim is None or not input.dim() else dim
    if dim is not None and not -max(input.dim(), 1) <= dim < max(input.dim(), 1):
        raise IndexError(f"dim={dim} is out of range")
    if not rows.size(along):
        out = rows.sum(along)
    else:
        first, *others = rows.unbind(along)
        out = first * 1
        for one in others:
            out = out * one
    return out.unsqueeze(dim) if keepdim and dim is not None and input.dim() else out
