"""Running sums with a backward by the same scan."""

import torch


def _scan(input, dim):
    parts = []
    for part in input.unbind(dim):
        parts.append(parts[-1] + part if parts else part)
    return torch.stack(parts, dim) if parts else input.clone()


class _Running(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, dim):
        ctx.dim = dim
        return _scan(input, dim)

    @staticmethod
    def backward(ctx, grad):
        return _Running.apply(grad, ctx.dim), None


def cumsum(input, dim, *, dtype=None):
    """Cumulative sum along `dim`, for float32 and float64."""
    if dtype is not None:
        input = input.to(dtype)
    if not input.dim():
        if dim not in (0, -1):
            raise IndexError(f"dim={dim} is out of range")
        return input.clone()
    return _Running.apply(input, dim)
