"""Counts by sorting: how far it is from one number to the next."""

import torch


def bincount(input, weights=None, minlength=0):
    """How often each number occurs, or the sum of its weights."""
    if (input.dim() != 1 and input.numel()) or (input.numel() and int(input.min()) < 0):
        raise RuntimeError("bincount: a vector of numbers that are not negative is expected")
    if minlength < 0:
        raise RuntimeError("bincount: minlength must not be negative")
    if weights is not None and weights.shape != input.shape:
        raise RuntimeError("bincount: weights must have the shape of the input")
    if not input.numel():
        return torch.zeros(minlength, dtype=torch.int64)
    size = max(int(input.max()) + 1, minlength)
    if weights is None:
        ordered = torch.sort(input.long()).values
        ends = torch.searchsorted(ordered, torch.arange(size), right=True)
        return torch.diff(ends, prepend=torch.zeros(1, dtype=torch.int64))
    weights = weights if weights.dtype == torch.float32 else weights.double()
    return torch.zeros(size, dtype=weights.dtype).index_add(0, input.long(), weights)
