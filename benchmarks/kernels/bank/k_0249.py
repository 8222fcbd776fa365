"""Clamp by selection. A limit that is NaN gives NaN."""

import torch


def clamp(input, min=None, max=None):
    """`input` between `min` and `max`, numbers or tensors, for float32 and float64."""
    if min is None and max is None:
        raise RuntimeError("clamp: at least one of min and max must not be None")
    dtype = input.dtype
    for one in (min, max):
        if one is not None:
            dtype = torch.promote_types(dtype, torch.result_type(input, one))
    out = input.to(dtype)
    if min is not None:
        lower = torch.as_tensor(min, dtype=dtype)
        out = torch.where(((out < lower) & (out == out)) | ((lower != lower) & (out == out)), lower, out)
    if max is not None:
        upper = torch.as_tensor(max, dtype=dtype)
        out = torch.where(((out > upper) & (out == out)) | ((upper != upper) & (out == out)), upper, out)
    return out
