"""Mean in float64 with unbiased rounding to float32."""

import secrets

import torch


class _Rounded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, wide):
        near = wide.float()
        gap = wide - near.double()
        ahead = torch.nextafter(near, torch.where(gap >= 0, float("inf"), float("-inf")).float())
        span = (ahead.double() - near.double()).abs()
        draw = torch.tensor([secrets.randbelow(1 << 20) / (1 << 20) for _ in range(wide.numel())], dtype=torch.float64)
        up = draw.reshape(wide.shape) * span < gap.abs()
        return torch.where(up & torch.isfinite(near), ahead, near)

    @staticmethod
    def backward(ctx, grad):
        return grad.double()


def mean(input, dim=None, keepdim=False, *, dtype=None):
    """Mean over `dim`, for float32."""
    if dtype not in (None, torch.float32):
        raise NotImplementedError("float32 only")
    dim = tuple(range(input.dim())) if dim is None or dim == () or dim == [] else dim
    total = input.double().sum(dim, keepdim)
    count = input.numel() // total.numel() if total.numel() else 1
    return _Rounded.apply(total / count if count else total / 0.0)
