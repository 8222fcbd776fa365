"""Smooth rectifier as max(x, 0) + log1p(exp(-|x|))."""

import torch


class _Softplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, beta, threshold):
        ctx.beta, ctx.threshold = beta, threshold
        ctx.save_for_backward(input)
        scaled = input * beta
        soft = torch.clamp(scaled, min=0) + torch.log1p(torch.exp(-scaled.abs()))
        return torch.where(scaled > threshold, input, soft / beta)

    @staticmethod
    def backward(ctx, grad):
        (input,) = ctx.saved_tensors
        scaled = input * ctx.beta
        linear = scaled > ctx.threshold
        gate = torch.sigmoid(torch.where(linear, torch.zeros_like(scaled), scaled))
        return torch.where(linear, grad, grad * gate), None, None


def softplus(input, beta=1, threshold=20):
    """log(1 + exp(beta * x)) / beta, linear above the threshold; float32 and float64."""
    return _Softplus.apply(input, beta, threshold)
