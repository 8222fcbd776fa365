"""Remainder of a floored division."""

import torch


def remainder(input, other):
    """input - floor(input / other) * other, for float32 and float64."""
    rest = (
        torch.fmod(input, other)
        if isinstance(input, torch.Tensor)
        else torch.fmod(torch.as_tensor(input, dtype=other.dtype), other)
    )
    return torch.where(rest < 0, rest + abs(other), rest)
