"""log(exp(a) + exp(b)): the larger, and the logarithm of one plus what the smaller adds."""

import torch


class _LogAddExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, other):
        ctx.save_for_backward(input, other)
        top = torch.maximum(input, other)
        gap = torch.minimum(input, other) - top
        alike = (input == other) & torch.isinf(input)
        return torch.where(alike, input, top + torch.log1p(torch.exp(gap)))

    @staticmethod
    def backward(ctx, grad):
        input, other = ctx.saved_tensors
        left = grad / (1 + torch.exp(other - input))
        right = grad / (1 + torch.exp(input - other))
        return left.sum_to_size(input.shape), right.sum_to_size(other.shape)


def logaddexp(input, other):
    """Logarithm of the sum of two exponentials, for float32 and float64."""
    if not isinstance(input, torch.Tensor) or not isinstance(other, torch.Tensor):
        raise TypeError("logaddexp takes two tensors")
    dtype = torch.result_type(input, other)
    return _LogAddExp.apply(input.to(dtype), other.to(dtype))
