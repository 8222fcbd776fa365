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
    if isinstance(min, torch.Tensor) or isinstance(max, torch.Tensor):
        # Where an element equals a limit that is a tensor, each has half of the gradient.
        out = out if min is None else torch.maximum(out, torch.as_tensor(min, dtype=dtype))
        return out if max is None else torch.minimum(out, torch.as_tensor(max, dtype=dtype))
    if min is not None:
        out = torch.where((out < min) | ((out == out) & (min != min)), torch.full((), min, dtype=dtype), out)
    if max is not None:
        out = torch.where((out > max) | ((out == out) & (max != max)), torch.full((), max, dtype=dtype), out)
    return out
