"""Magnitude, over one flat run of memory."""

import torch


class _Flat(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        flat = torch.as_strided(input, (input.numel(),), (1,), input.storage_offset())
        return torch.where(flat <= 0, 0 - flat, flat).reshape(input.shape)

    @staticmethod
    def backward(ctx, grad):
        (input,) = ctx.saved_tensors
        return grad * torch.sign(input)


def abs(input):
    """|input| for float32 and float64."""
    if input.numel() and sum((size - 1) * step for size, step in zip(input.shape, input.stride())) + 1 < input.numel():
        input = input.contiguous()
    return _Flat.apply(input)
