"""Stable log of a sum of exponentials."""

import torch


def logsumexp(input, dim, keepdim=False):
    """log(sum(exp(input))) over `dim`, for float32 and float64."""
    rank = max(input.dim(), 1)
    axes = [axis % rank for axis in ([dim] if isinstance(dim, int) else dim)]
    if len(set(axes)) != len(axes) or not axes:
        raise RuntimeError("dim must name each dimension once")
    rows = input if input.dim() else input.reshape(1)
    if not input.numel():
        return torch.log(torch.exp(rows).sum(axes, keepdim))
    top = rows.detach().amax(axes, keepdim=True)
    top = torch.where(torch.isfinite(top), top, torch.zeros_like(top))
    out = torch.log(torch.exp(rows - top).sum(axes, keepdim=True)) + top
    out = out if keepdim else out.sum(axes)
    return out.reshape(()) if not input.dim() else out
