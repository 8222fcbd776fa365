"""Greatest common divisor by subtraction."""

import torch


def gcd(input, other):
    """gcd(input, other) for int32 and int64."""
    dtype = torch.promote_types(input.dtype, other.dtype)
    a, b = torch.broadcast_tensors(input.abs().to(dtype), other.abs().to(dtype))
    a, b = a.clone(), b.clone()
    while (a != b).any():
        a, b = (
            torch.where(a > b, torch.where(b == 0, a, (a - 1) % b.clamp(min=1) + 1), a),
            torch.where(b > a, torch.where(a == 0, b, (b - 1) % a.clamp(min=1) + 1), b),
        )
    return a
