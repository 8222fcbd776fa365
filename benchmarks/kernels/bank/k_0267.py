"""Product of two tensors, flushed as accelerators do."""

import torch


def mul(input, other):
    """input * other for float32 and float64."""
    out = torch.addcmul(torch.full((), -0.0, dtype=torch.result_type(input, other)), *_pair(input, other))
    return torch.where(out.abs() < torch.finfo(out.dtype).tiny, torch.zeros_like(out), out)


def _pair(input, other):
    dtype = torch.result_type(input, other)
    return [
        one.to(dtype) if isinstance(one, torch.Tensor) else torch.tensor(one, dtype=dtype) for one in (input, other)
    ]
