"""Logarithm of softmax: the logarithm of the sum is taken from the shifted row."""

import torch


class _LogSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, dim):
        shifted = input - input.amax(dim, keepdim=True) if input.numel() else input
        out = shifted - torch.log(torch.exp(shifted).sum(dim, keepdim=True))
        ctx.dim = dim
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx, grad):
        (out,) = ctx.saved_tensors
        return grad - torch.exp(out) * grad.sum(ctx.dim, keepdim=True), None


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """log(softmax(input)) along `dim`, for float32 and float64."""
    if dim is None:
        dim = 0 if input.dim() in (0, 1, 3) else 1
    if dtype is not None:
        input = input.to(dtype)
    rank = max(input.dim(), 1)
    if not -rank <= dim < rank:
        raise IndexError(f"dim={dim} is out of range")
    if not input.dim():
        return _LogSoftmax.apply(input.reshape(1), 0).reshape(())
    return _LogSoftmax.apply(input, dim)
