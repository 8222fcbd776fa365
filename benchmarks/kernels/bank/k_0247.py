"""Division of tensors and numbers."""

import torch


class _Floored(torch.autograd.Function):
    @staticmethod
    def forward(ctx, left, right):
        ctx.shapes = left.shape, right.shape
        return torch.floor_divide(left, right)

    @staticmethod
    def backward(ctx, grad):
        left, right = ctx.shapes
        return torch.zeros_like(grad).sum_to_size(left), torch.zeros_like(grad).sum_to_size(right)


def div(input, other, *, rounding_mode=None):
    """input / other, rounded where a mode is given; every dtype."""
    if rounding_mode not in (None, "trunc", "floor"):
        raise RuntimeError(f"rounding_mode={rounding_mode!r} is not known")
    dtype = torch.result_type(input, other)
    if rounding_mode == "floor":
        left, right = (
            one if isinstance(one, torch.Tensor) else torch.tensor(one, dtype=dtype) for one in (input, other)
        )
        return _Floored.apply(left, right)
    if dtype.is_floating_point or dtype.is_complex:
        left = torch.as_tensor(input, dtype=dtype)
        out = (
            left * torch.reciprocal(torch.as_tensor(other, dtype=dtype))
            if dtype.is_complex
            else torch.true_divide(left, other)
        )
        return torch.trunc(out) if rounding_mode == "trunc" else out
    out = torch.as_tensor(input).double() / torch.as_tensor(other).double()
    return torch.trunc(out).to(dtype) if dtype != torch.bool else out.float()
