"""Hyperbolic tangent from expm1, which keeps small arguments exact."""

import torch


class _Tanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        down = torch.expm1(-2 * input.abs())
        out = torch.copysign(-down / (2 + down), input)
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx, grad):
        (out,) = ctx.saved_tensors
        return grad * (1 - out * out)


def tanh(input):
    """tanh for float32 and float64."""
    return _Tanh.apply(input)
