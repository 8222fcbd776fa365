"""Entropy of a probability."""

import torch


def _value(input):
    away = input - 1
    near = (input > 0.6) & (input < 1.4)
    series = away - away**2 / 2 + away**3 / 3 - away**4 / 4 + away**5 / 5
    safe = torch.where(input > 0, input, torch.ones_like(input))
    log = torch.where(near, series, torch.log(safe))
    out = torch.where(input == 0, torch.zeros_like(input), -input * log)
    out = torch.where(input < 0, torch.full_like(input, float("-inf")), out)
    return torch.where(input != input, input, out)


class _Entropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return _value(input)

    @staticmethod
    def backward(ctx, grad):
        (input,) = ctx.saved_tensors
        return grad * (-torch.log(input) - 1)


def entr(input):
    """-x * log(x), 0 at 0, minus infinity below; float32 and float64."""
    return _Entropy.apply(input)
