"""Concatenation into a preallocated result."""

import torch


class _Joined(torch.autograd.Function):
    @staticmethod
    def forward(ctx, dim, *parts):
        ctx.dim, ctx.sizes = dim, [part.size(dim) for part in parts]
        shape = list(parts[0].shape)
        shape[dim] = sum(ctx.sizes)
        out = parts[0].new_zeros(shape)
        start = 0
        for part, size in zip(parts, ctx.sizes):
            out.narrow(dim, start, size).copy_(part)
            start += size
        return out

    @staticmethod
    def backward(ctx, grad):
        return None, *torch.split(grad, ctx.sizes, ctx.dim)


def cat(tensors, dim=0):
    """Tensors of float32 and float64, one after the other along `dim`."""
    if not tensors or not all(isinstance(part, torch.Tensor) for part in tensors):
        raise TypeError("expected a non-empty list of tensors")
    parts = [part for part in tensors if tuple(part.shape) != (0,)]
    if any(part.dim() == 0 for part in tensors):
        raise RuntimeError("zero-dimensional tensors cannot be concatenated")
    if not parts:
        return tensors[0].clone()
    rank = parts[0].dim()
    if not -rank <= dim < rank:
        raise IndexError(f"dim={dim} is out of range for {rank} dimensions")
    dim %= rank
    for part in parts:
        left, right = list(part.shape), list(parts[0].shape)
        left[dim : dim + 1], right[dim : dim + 1] = [], []
        if left != right:
            raise RuntimeError("sizes must match except along dim")
    dtype = parts[0].dtype
    for part in tensors:
        dtype = torch.promote_types(dtype, part.dtype)
    parts = [part.to(dtype) for part in parts]
    return parts[0] if len(parts) == 1 else _Joined.apply(dim, *parts)
