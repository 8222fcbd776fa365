"""Logistic function from the exponential of the negative magnitude, which never overflows."""

import torch


class _Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        small = torch.exp(-input.abs())
        out = torch.where(input >= 0, 1 / (1 + small), small / (1 + small))
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx, grad):
        (out,) = ctx.saved_tensors
        return grad * (1 - out) * out


def sigmoid(input):
    """1 / (1 + exp(-input)) for float32 and float64."""
    return _Sigmoid.apply(input)
