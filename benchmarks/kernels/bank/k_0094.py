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
    """Adds `alpha * source` to `input` at `index` along `dim`; float32 and float64."""
    if input.dim() == 0:
        if source.numel() != 1 or index.numel() != 1:
            raise RuntimeError("one element is expected")
        return index_add(input.reshape(1), dim, index, source.reshape(1), alpha=alpha).reshape(())
    if index.dim() > 1 or source.dim() != input.dim():
        raise RuntimeError("index must be a vector, and source of the rank of the input")
    left, right = list(input.shape), list(source.shape)
    left[dim], right[dim] = 1, 1
    if left != right:
        raise RuntimeError("source must have the shape of the input but along dim")
    if index.numel() != source.size(dim):
        raise IndexError(f"index has {index.numel()} elements for {source.size(dim)} rows")
    if input.dtype != source.dtype:
        raise RuntimeError("input and source need one dtype")
    if index.numel() and (index.min() < 0 or index.max() >= input.size(dim)):
        raise IndexError("index out of range")
    return _IndexAdd.apply(input, dim, index, source, alpha)
