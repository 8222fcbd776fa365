"""Euclid's algorithm on all pairs at once."""

import torch


def gcd(input, other):
    """Greatest common divisor of int32 and int64, not negative but for the least number of a dtype."""
    if not isinstance(input, torch.Tensor) or not isinstance(other, torch.Tensor):
        raise TypeError("gcd takes two tensors")
    dtype = torch.result_type(input, other)
    a, b = torch.broadcast_tensors(input.to(dtype).abs(), other.to(dtype).abs())
    while (b != 0).any():
        rest = torch.where(b == 0, 0, torch.fmod(a, torch.where(b == 0, 1, b)))
        a, b = torch.where(b == 0, a, b), rest
    return a.abs().clone()
