"""Length of the hypotenuse."""

import torch


class _Root(torch.autograd.Function):
    @staticmethod
    def forward(ctx, left, right):
        left, right = torch.broadcast_tensors(left, right)
        out = torch.sqrt(left * left + right * right)
        unbounded = torch.isinf(left) | torch.isinf(right)
        out = torch.where(unbounded, torch.full_like(out, float("inf")), out)
        ctx.save_for_backward(left, right, out)
        return out

    @staticmethod
    def backward(ctx, grad):
        left, right, out = ctx.saved_tensors
        return grad * (left / out), grad * (right / out)


def hypot(input, other):
    """sqrt(input^2 + other^2) for float32 and float64."""
    if not isinstance(input, torch.Tensor) or not isinstance(other, torch.Tensor):
        raise TypeError("two tensors are expected")
    dtype = torch.result_type(input, other)
    left, right = torch.broadcast_tensors(input.to(dtype), other.to(dtype))
    return _Root.apply(left, right)
