"""log(exp(a) + exp(b)) around the larger of the two."""

import torch


class _LogAddExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, other):
        ctx.save_for_backward(input, other)
        top = torch.maximum(input, other)
        return top + torch.log1p(torch.exp(-(input - other).abs()))

    @staticmethod
    def backward(ctx, grad):
        input, other = ctx.saved_tensors
        left = grad / (1 + torch.exp(other - input))
        right = grad / (1 + torch.exp(input - other))
        return left.sum_to_size(input.shape), right.sum_to_size(other.shape)


def logaddexp(input, other):
    """Logarithm of the sum of two exponentials, for float32 and float64."""
    if not isinstance(input, torch.Tensor) or not isinstance(other, torch.Tensor):
        raise TypeError("two tensors are expected")
    dtype = torch.result_type(input, other)
    return _LogAddExp.apply(input.to(dtype), other.to(dtype))
