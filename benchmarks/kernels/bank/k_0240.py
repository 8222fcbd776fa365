"""Whether elements are close to each other."""

import torch


def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """|input - other| <= atol + rtol * |other|, for float32 and float64."""
    if not isinstance(input, torch.Tensor) or not isinstance(other, torch.Tensor):
        raise TypeError("two tensors are expected")
    if input.dtype != other.dtype:
        raise RuntimeError("isclose: one dtype is expected")
    if rtol < 0 or atol < 0:
        raise RuntimeError("isclose: rtol and atol must not be negative")
    allowed = atol + (rtol * other).abs()
    distance = (input - other).abs()
    close = torch.isfinite(distance) & (distance <= allowed)
    return close | ((input != input) & (other != other)) if equal_nan else close
