"""Dot product with one pass over both vectors."""

import torch


class _Dot(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, other):
        ctx.save_for_backward(input, other)
        size = input.numel()
        dense = other if other.stride(0) > 0 else other.contiguous()
        run = torch.as_strided(dense, (size,), (1,), dense.storage_offset())
        return (input * run).sum()

    @staticmethod
    def backward(ctx, grad):
        input, other = ctx.saved_tensors
        return grad * other, grad * input


def dot(input, tensor):
    """Dot product of two vectors, float32 and float64."""
    if input.dim() != 1 or tensor.dim() != 1:
        raise RuntimeError("dot: 1D tensors expected")
    if input.dtype != tensor.dtype:
        raise RuntimeError("dot: one dtype expected")
    if input.numel() != tensor.numel():
        raise RuntimeError("dot: inconsistent tensor size")
    return _Dot.apply(input, tensor)
