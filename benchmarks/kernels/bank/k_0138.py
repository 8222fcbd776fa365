"""Difference of two tensors."""

import torch


def _reduced(grad, shape):
    extra = grad.dim() - len(shape)
    copies = grad.numel() // max(torch.Size(shape).numel(), 1)
    return grad.sum_to_size(shape) / copies if extra and copies > 1 else grad.sum_to_size(shape)


class _Difference(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, other, alpha):
        ctx.shapes, ctx.alpha = (input.shape, other.shape), alpha
        return input + other * -alpha

    @staticmethod
    def backward(ctx, grad):
        left, right = ctx.shapes
        return _reduced(grad, left), _reduced(grad * -ctx.alpha, right), None


def sub(input, other, *, alpha=1):
    """input - alpha * other, for float32 and float64."""
    if not isinstance(input, torch.Tensor) or not isinstance(other, torch.Tensor):
        return input + other * -alpha
    dtype = torch.result_type(input, other)
    return _Difference.apply(input.to(dtype), other.to(dtype), alpha)
