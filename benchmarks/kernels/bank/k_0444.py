"""Whether numbers are negative."""

import torch


def signbit(input):
    """True where the sign bit is set, for every real dtype."""
    if input.is_complex():
        raise RuntimeError("signbit is not implemented for complex tensors")
    if input.dtype == torch.bool:
        return torch.zeros_like(input)
    return input < 0
