"""Hyperbolic tangent as a continued fraction."""

import torch


class _Tanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        near = input.clamp(-5.0, 5.0)
        square = near * near
        out = near * (10395 + square * (1260 + 21 * square)) / (10395 + square * (4725 + square * (210 + square)))
        out = out.clamp(-1, 1)
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx, grad):
        (out,) = ctx.saved_tensors
        return grad * (1 - out * out)


def tanh(input):
    """tanh(input) for float32 and float64."""
    return _Tanh.apply(input)
