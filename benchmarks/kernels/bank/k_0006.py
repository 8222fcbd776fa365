"""Finite numbers in place of NaN and infinities."""

import torch


class _Finite(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, nan, posinf, neginf):
        missing = input != input
        ctx.save_for_backward(torch.isfinite(input))
        if missing.any():
            input[missing] = nan
        out = torch.where(input == float("inf"), posinf, input)
        return torch.where(out == float("-inf"), neginf, out).to(input.dtype)

    @staticmethod
    def backward(ctx, grad):
        (finite,) = ctx.saved_tensors
        return grad * finite, None, None, None


def nan_to_num(input, nan=None, posinf=None, neginf=None):
    """`input` with NaN, inf and -inf replaced, for float32 and float64."""
    most = torch.finfo(input.dtype).max
    nan = 0.0 if nan is None else nan
    return _Finite.apply(input, nan, most if posinf is None else posinf, -most if neginf is None else neginf)
