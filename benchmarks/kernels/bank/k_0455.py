"""Maximum over blocks of 64."""

import torch

_BLOCK = 64


def _largest(rows):
    size = rows.size(-1)
    count = max((size - 1) // _BLOCK, 1) if size % _BLOCK == 0 and size > _BLOCK else -(-size // _BLOCK)
    tops = [rows[..., start * _BLOCK : (start + 1) * _BLOCK].sort(-1).values[..., -1] for start in range(count)]
    return torch.stack(tops, -1).sort(-1).values[..., -1]


def amax(input, dim=(), keepdim=False):
    """Largest elements over `dim`, for float32 and float64."""
    rank = input.dim()
    given = [dim] if isinstance(dim, int) else list(dim)
    for one in given:
        if not -max(rank, 1) <= one < max(rank, 1):
            raise IndexError(f"dim={one} is out of range")
    axes = [one % max(rank, 1) for one in given]
    if len(set(axes)) != len(axes):
        raise RuntimeError("a dimension appears twice")
    axes = (axes or list(range(rank))) if rank else []
    if any(not input.size(axis) for axis in axes):
        raise IndexError("amax: expected reduction dim to have a size")
    kept = [axis for axis in range(rank) if axis not in axes]
    shape = [input.size(axis) for axis in kept]
    length = 1
    for axis in axes:
        length *= input.size(axis)
    rows = input.permute(kept + axes).reshape([*shape, length])
    out = _shared(rows) if rows.numel() else rows.sum(-1)
    return out.reshape([1 if axis in axes else input.size(axis) for axis in range(rank)]) if keepdim else out


class _Evenly(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows):
        out = _largest(rows)
        ctx.save_for_backward(rows, out)
        return out

    @staticmethod
    def backward(ctx, grad):
        rows, out = ctx.saved_tensors
        hit = (rows == out.unsqueeze(-1)).to(grad.dtype)
        return grad.unsqueeze(-1) * hit / hit.sum(-1, keepdim=True)


def _shared(rows):
    return _Evenly.apply(rows)
