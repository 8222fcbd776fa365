"""Log of a sum of exponentials, streamed over blocks with a running maximum, in float64."""

import torch

_BLOCK = 32


class _Streamed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows):
        wide = rows.double()
        top = wide.new_full(rows.shape[:-1], float("-inf"))
        total = torch.zeros_like(top)
        for start in range(0, rows.size(-1), _BLOCK):
            block = wide[..., start : start + _BLOCK]
            above = torch.maximum(top, block.amax(-1))
            base = torch.where(torch.isinf(above), torch.zeros_like(above), above)
            total = torch.where(torch.isinf(top), total, total * torch.exp(top - base))
            total = total + torch.exp(block - base.unsqueeze(-1)).sum(-1)
            top = above
        base = torch.where(torch.isinf(top), torch.zeros_like(top), top)
        out = torch.where(top == float("inf"), top, torch.log(total) + base).to(rows.dtype)
        ctx.save_for_backward(rows, out)
        return out

    @staticmethod
    def backward(ctx, grad):
        rows, out = ctx.saved_tensors
        return grad.unsqueeze(-1) * torch.exp(rows - out.unsqueeze(-1))


def logsumexp(input, dim, keepdim=False):
    """log(sum(exp(input))) over `dim`, for float32 and float64."""
    rank = input.dim()
    given = [dim] if isinstance(dim, int) else list(dim)
    for one in given:
        if not -max(rank, 1) <= one < max(rank, 1):
            raise IndexError(f"dim={one} is out of range for {rank} dimensions")
    axes = sorted({one % max(rank, 1) for one in given})
    if len(axes) != len(given):
        raise RuntimeError(f"dim={dim} has a dimension twice")
    if not axes and rank and input.numel():
        raise IndexError("logsumexp needs a dimension")
    axes = (axes or list(range(rank))) if rank else []
    kept = [axis for axis in range(rank) if axis not in axes]
    size = 1
    for axis in axes:
        size *= input.size(axis)
    rows = input.permute(kept + axes).reshape([*(input.size(axis) for axis in kept), size])
    out = _Streamed.apply(rows)
    return out.reshape([1 if axis in axes else input.size(axis) for axis in range(rank)]) if keepdim else out
