"""Absolute value."""

import torch


def abs(input):
    """|input| for every dtype."""
    if input.dtype == torch.bool:
        raise RuntimeError("abs is not defined for bool")
    if input.dtype == torch.uint8:
        return input.clone()
    real = input.real if input.is_complex() else input
    return real * torch.sign(real)
