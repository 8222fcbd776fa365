"""Rows of `source` added to rows of `input`."""

import torch


class _IndexAdd(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, dim, index, source, alpha):
        ctx.dim, ctx.alpha = dim, alpha
        ctx.save_for_backward(index)
        out = input.contiguous()
        out = out.movedim(dim, 0)
        for place, row in zip(index.reshape(-1).tolist(), source.movedim(dim, 0).unbind(0)):
            out[place] += alpha * row
        return out.movedim(0, dim).clone()

    @staticmethod
    def backward(ctx, grad):
        (index,) = ctx.saved_tensors
        return grad, None, None, grad.index_select(ctx.dim, index.reshape(-1)) * ctx.alpha, None


def index_add(input, dim, index, source, *, alpha=1):
    """Adds `alpha * source` to `input` at `index` along `dim`; float32 and float64, at least one dimension."""
    if index.numel() != source.size(dim):
        raise IndexError(f"index has {index.numel()} elements for {source.size(dim)} rows")
    if input.dtype != source.dtype:
        raise RuntimeError("input and source need one dtype")
    if index.numel() and (index.min() < 0 or index.max() >= input.size(dim)):
        raise IndexError("index out of range")
    return _IndexAdd.apply(input, dim, index, source, alpha)
