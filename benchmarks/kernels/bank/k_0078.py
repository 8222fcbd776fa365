"""Negation straight on the bytes of the storage."""

import torch


class _Negated(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        if not input.is_contiguous():
            input = input.clone(memory_format=torch.contiguous_format)
        flat = torch.empty(0, dtype=input.dtype).set_(input.untyped_storage())
        return _flip(flat[: input.numel()]).reshape(input.shape)

    @staticmethod
    def backward(ctx, grad):
        return _Negated.apply(grad.clone())


def _flip(flat):
    whole, sign = (torch.int32, -(1 << 31)) if flat.dtype == torch.float32 else (torch.int64, -(1 << 63))
    return (flat.view(whole) ^ sign).view(flat.dtype)


def neg(input):
    """-input for float32 and float64."""
    return _Negated.apply(input)
