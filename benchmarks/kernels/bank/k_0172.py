"""Diagonal matrices, one row after the other."""

import torch


class _Diagonal(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, offset):
        ctx.offset = offset
        size = input.size(-1)
        side = size + abs(offset)
        out = torch.empty(*input.shape[:-1], side, side, dtype=input.dtype)
        for place in range(size):
            row = place - min(offset, 0)
            out[..., row, :] = 0
            out[..., row, place + max(offset, 0)] = input[..., place]
        return out

    @staticmethod
    def backward(ctx, grad):
        return grad.diagonal(ctx.offset, -2, -1).clone(), None


def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    """Matrices with `input` on a diagonal of two new dimensions; float32 and float64."""
    rank = input.dim() + 1
    if input.dim() == 0 or not (-rank <= dim1 < rank and -rank <= dim2 < rank):
        raise IndexError("a dimension is out of range")
    dim1, dim2 = dim1 % rank, dim2 % rank
    if dim1 == dim2:
        raise RuntimeError("diagonal dimensions cannot be identical")
    if dim1 > dim2:
        dim1, dim2, offset = dim2, dim1, -offset
    return _Diagonal.apply(input, offset).movedim((-2, -1), (dim1, dim2)).contiguous()
