"""Whether the sign bit is set, looked up in the bits themselves."""

import torch

_WHOLE = {
    torch.float16: torch.int16,
    torch.bfloat16: torch.int16,
    torch.float32: torch.int32,
    torch.float64: torch.int64,
}


def signbit(input):
    """True for negative numbers, negative zero and NaN with a sign; every real dtype."""
    if input.is_complex():
        raise NotImplementedError("signbit is not defined for complex numbers")
    if input.dtype in (torch.bool, torch.uint8):
        return torch.zeros_like(input, dtype=torch.bool)
    return input.view(_WHOLE.get(input.dtype, input.dtype)) < 0
