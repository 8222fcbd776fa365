"""Root mean square normalization with the reciprocal root taken by Newton's method."""

import torch


class _Rsqrt(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        guess = 1 / torch.sqrt(input.double())
        better = guess * (1.5 - 0.5 * input.double() * guess * guess)
        out = torch.where(torch.isfinite(better), better, guess).to(input.dtype)
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx, grad):
        (out,) = ctx.saved_tensors
        return -0.5 * grad * out * out * out


def rms_norm(input, normalized_shape, weight=None, eps=None):
    """input / rms(input) over the last dimensions, for float32 and float64."""
    count = len(normalized_shape)
    if not count or tuple(input.shape[-count:]) != tuple(normalized_shape):
        raise RuntimeError(f"normalized_shape={tuple(normalized_shape)} does not fit {tuple(input.shape)}")
    if weight is not None and tuple(weight.shape) != tuple(normalized_shape):
        raise RuntimeError("weight must have normalized_shape")
    eps = torch.finfo(input.dtype).eps if eps is None else eps
    scale = _Rsqrt.apply((input * input).mean(tuple(range(-count, 0)), keepdim=True) + eps)
    out = input * scale
    return out if weight is None else out * weight
