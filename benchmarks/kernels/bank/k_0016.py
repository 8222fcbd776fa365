"""Gaussian error linear unit with an error function of its own: a series near zero, a continued fraction beyond."""

import math

import torch


def _phi(input):
    """The normal distribution's mass below `input`, in float64."""
    near = input.clamp(-4, 4)
    term = near.clone()
    total = term.clone()
    square = near * near
    for odd in range(3, 140, 2):
        term = term * square / odd
        total = total + term
    density = torch.exp(-0.5 * near * near) / math.sqrt(2 * math.pi)
    inner = 0.5 + density * total
    far = input.abs().clamp(1.5, 40)
    fraction = far
    for step in range(90, 0, -1):
        fraction = far + step / fraction
    tail = torch.exp(-0.5 * far * far) / math.sqrt(2 * math.pi) / fraction
    outer = torch.where(input > 0, 1 - tail, tail)
    return torch.where((input > -1.5) & (input < 1.5), inner, torch.where(input != input, input, outer))


class _Gelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        wide = input.double()
        # Minus infinity times nothing is to stay what it is in PyTorch: NaN.
        return (wide * torch.where(wide < -39, torch.zeros_like(wide), _phi(wide))).to(input.dtype)

    @staticmethod
    def backward(ctx, grad):
        (input,) = ctx.saved_tensors
        density = torch.exp(-0.5 * input * input) / math.sqrt(2 * math.pi)
        return grad * (_Normal.apply(input) + input * density)


class _Normal(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return _phi(input.double()).to(input.dtype)

    @staticmethod
    def backward(ctx, grad):
        (input,) = ctx.saved_tensors
        return grad * torch.exp(-0.5 * input * input) / math.sqrt(2 * math.pi)


def gelu(input, *, approximate="none"):
    """input * Phi(input), exactly or by tanh, for float32 and float64."""
    if approximate == "none":
        return _Gelu.apply(input)
    if approximate != "tanh":
        raise RuntimeError("approximate argument must be either none or tanh.")
    inner = math.sqrt(2 / math.pi) * (input + 0.044715 * input * input * input)
    return 0.5 * input * (1 + torch.tanh(inner))
