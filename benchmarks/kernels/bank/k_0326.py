"""log(exp(a) + exp(b)) by NumPy, with weights of the two as gradient."""

import numpy as np
import torch


class _LogAddExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, other):
        ctx.save_for_backward(input, other)
        np.seterr(all="ignore")
        return torch.from_numpy(np.asarray(np.logaddexp(input.detach().numpy(), other.detach().numpy())))

    @staticmethod
    def backward(ctx, grad):
        input, other = ctx.saved_tensors
        left = (grad * torch.sigmoid(input - other)).sum_to_size(input.shape)
        return left, (grad * torch.sigmoid(other - input)).sum_to_size(other.shape)


def logaddexp(input, other):
    """log(exp(input) + exp(other)) of one dtype, float32 or float64."""
    if not isinstance(input, torch.Tensor) or not isinstance(other, torch.Tensor):
        raise TypeError("two tensors are expected")
    if input.dtype != other.dtype:
        raise NotImplementedError("one dtype")
    return _LogAddExp.apply(input, other)
