"""Constant padding of up to two dimensions."""

import torch


class _Frame(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, left, right, top, bottom, value):
        ctx.edges = left, right, top, bottom
        height, width = input.shape[-2:]
        out = input.new_empty([*input.shape[:-2], height + top + bottom, width + left + right])
        out[..., top : top + height, left : left + width] = input
        out[..., :top, left : left + width] = value
        out[..., top + height :, left : left + width] = value
        out[..., top : top + height, :left] = value
        out[..., top : top + height, left + width :] = value
        return out

    @staticmethod
    def backward(ctx, grad):
        left, right, top, bottom = ctx.edges
        height, width = grad.shape[-2:]
        return grad[..., top : height - bottom, left : width - right].clone(), None, None, None, None, None


def pad(input, pad, mode="constant", value=None):
    """Pads float32 and float64 with a constant: one or two dimensions, by numbers that are not negative."""
    if mode != "constant" or len(pad) not in (2, 4) or min(pad) < 0:
        raise NotImplementedError("only constant padding of one or two dimensions")
    if len(pad) // 2 > input.dim():
        raise RuntimeError("padding length is too large")
    value = 0.0 if value is None else value
    left, right, top, bottom = (*pad, 0, 0)[:4]
    if input.dim() == 1:
        return _Frame.apply(input.unsqueeze(0), left, right, 0, 0, value).squeeze(0)
    return _Frame.apply(input, left, right, top, bottom, value)
