"""Hypotenuse in float64, where the squares of float32 neither overflow nor vanish."""

import torch


class _Hypot(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, other):
        a, b = input.double(), other.double()
        out = torch.sqrt(a * a + b * b)
        unbounded = torch.isinf(a) | torch.isinf(b)
        out = torch.where(unbounded, torch.full_like(out, float("inf")), out).to(input.dtype)
        ctx.save_for_backward(input, other, out)
        return out

    @staticmethod
    def backward(ctx, grad):
        input, other, out = ctx.saved_tensors
        return (grad * (input / out)).sum_to_size(input.shape), (grad * (other / out)).sum_to_size(other.shape)


def hypot(input, other):
    """sqrt(input^2 + other^2) for float32."""
    if not isinstance(input, torch.Tensor) or not isinstance(other, torch.Tensor):
        raise TypeError("hypot takes two tensors")
    return _Hypot.apply(input, other)
