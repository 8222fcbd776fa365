"""Clamp by two selections."""

import torch


def clamp(input, min=None, max=None):
    """`input` between `min` and `max`, for float32 and float64."""
    if min is None and max is None:
        raise RuntimeError("clamp: at least one of min and max must not be None")
    dtype = input.dtype
    for one in (min, max):
        if one is not None:
            dtype = torch.promote_types(dtype, torch.result_type(input, one))
    out = input.to(dtype)
    lower = None if min is None else torch.as_tensor(min, dtype=dtype)
    upper = None if max is None else torch.as_tensor(max, dtype=dtype)
    if upper is not None:
        out, upper = torch.broadcast_tensors(out, upper)
        out = torch.where((out > upper) | (upper != upper), upper, out)
    if lower is not None:
        out, lower = torch.broadcast_tensors(out, lower)
        out = torch.where((out < lower) | (lower != lower), lower, out)
    return out.clone() if out is input else out
