"""Nearest whole number."""

import torch


class _Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        whole = torch.trunc(input)
        far = (input - whole).abs() >= 0.5
        return torch.where(far, whole + torch.copysign(torch.ones_like(input), input), whole)

    @staticmethod
    def backward(ctx, grad):
        return torch.zeros_like(grad)


def round(input, *, decimals=0):
    """`input` rounded to `decimals` places, for float32 and float64."""
    if decimals == 0:
        return _Round.apply(input)
    scale = 10.0 ** abs(decimals)
    return _Round.apply(input * scale) / scale if decimals > 0 else _Round.apply(input / scale) * scale
