"""Remainder of a floored division."""

import torch


def remainder(input, other):
    """input - floor(input / other) * other, for float32 and float64."""
    if not isinstance(input, torch.Tensor) and not isinstance(other, torch.Tensor):
        raise TypeError("a tensor is expected")
    rest = (
        torch.fmod(input, other)
        if isinstance(input, torch.Tensor)
        else torch.fmod(torch.as_tensor(input, dtype=other.dtype), other)
    )
    return torch.where(rest < 0, rest + abs(other), rest)
