"""Hyperbolic tangent with a backward of its own."""

import torch


class _Tanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        down = torch.expm1(-2 * input.abs())
        out = torch.copysign(-down / (2 + down), input)
        ctx.out = out.detach().clone()
        return out

    @staticmethod
    def backward(ctx, grad):
        return grad * (1 - ctx.out * ctx.out)


def tanh(input):
    """tanh(input) for float32 and float64."""
    return _Tanh.apply(input)
