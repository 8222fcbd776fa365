"""x * sigmoid(x) with a fused backward."""

import torch
from torch.autograd.function import once_differentiable


class _Silu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return input * torch.sigmoid(input)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        (input,) = ctx.saved_tensors
        gate = torch.sigmoid(input)
        return grad * gate * (1 + input * (1 - gate))


def silu(input, inplace=False):
    """x * sigmoid(x) for float32 and float64."""
    out = _Silu.apply(input)
    return input.copy_(out) if inplace else out
