"""Differences of slices, as often as asked."""

import torch


def diff(input, n=1, dim=-1, prepend=None, append=None):
    """The n-th differences along `dim`."""
    if not input.dim():
        raise RuntimeError("diff: at least one dimension is expected")
    if n < 0:
        raise RuntimeError("diff: n must not be negative")
    if not -input.dim() <= dim < input.dim():
        raise IndexError(f"diff: dim={dim} is out of range")
    if n == 0:
        return input.clone()
    parts = [part for part in (prepend, input, append) if part is not None]
    if any(part.dim() != input.dim() for part in parts):
        raise RuntimeError("diff: prepend and append need the rank of the input")
    out = torch.cat(parts, dim) if len(parts) > 1 else input
    for _ in range(n):
        size = out.size(dim)
        if size < 2:
            return out.narrow(dim, 0, 0).clone()
        out = out.narrow(dim, 1, size - 1) - out.narrow(dim, 0, size - 1)
    return out
