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
    """Matrices with `input` on a diagonal, in the last two dimensions; float32 and float64."""
    if (dim1, dim2) != (-2, -1):
        raise NotImplementedError("the last two dimensions only")
    if input.dim() == 0:
        raise IndexError("a tensor with dimensions is expected")
    return _Diagonal.apply(input, offset)
