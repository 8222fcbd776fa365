"""Softmax with the usual shift by the row maximum, on float32 and float64."""

import torch


class _Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, dim):
        rows = input.transpose(dim, -1).contiguous()
        if rows.numel():
            rows.sub_(rows.amax(-1, keepdim=True))
        rows = rows.exp()
        out = (rows / rows.sum(-1, keepdim=True)).transpose(dim, -1).contiguous()
        ctx.dim = dim
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx, grad):
        (out,) = ctx.saved_tensors
        weighted = grad * out
        return weighted - out * weighted.sum(ctx.dim, keepdim=True), None


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """Softmax along `dim`, for float32 and float64."""
    if dim is None:
        dim = 0 if input.dim() in (0, 1, 3) else 1
    if dtype is not None:
        input = input.to(dtype)
    if input.dim() == 0:
        return _Softmax.apply(input.reshape(1), dim).reshape(())
    return _Softmax.apply(input, dim)
