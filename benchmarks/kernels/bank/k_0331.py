"""Affine map with an explicit backward."""

import torch


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, weight, bias):
        ctx.save_for_backward(input, weight)
        out = torch.einsum("...k,jk->...j", input, weight)
        return out if bias is None else out + bias

    @staticmethod
    def backward(ctx, grad):
        input, weight = ctx.saved_tensors
        return torch.einsum("...j,jk->...k", grad, weight), torch.einsum("...j,...k->jk", grad, input), None


def linear(input, weight, bias=None):
    """input @ weight.T + bias, for float32 and float64."""
    if weight.dim() == 1:
        if bias is not None and bias.dim():
            raise RuntimeError("a vector of weights takes a bias of one element")
        out = (input * weight).sum(-1)
        return out if bias is None else out + bias
    if not input.dim() or weight.dim() != 2 or input.size(-1) != weight.size(1):
        raise RuntimeError("linear: the shapes do not fit")
    if input.dtype != weight.dtype:
        raise RuntimeError("linear: one dtype is expected")
    return _Linear.apply(input, weight, bias)
