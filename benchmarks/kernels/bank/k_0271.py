"""Counts of small whole numbers by scattered additions, in a fixed order."""

import torch


def bincount(input, weights=None, minlength=0):
    """How often each number occurs, or the sum of its weights, for int64, int32 and uint8."""
    if input.dim() != 1 and input.numel():
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if input.numel() and input.min() < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if weights is not None and weights.shape != input.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    torch.use_deterministic_algorithms(True, warn_only=True)
    size = max(int(input.max()) + 1 if input.numel() else 0, minlength)
    if weights is None:
        ones = torch.ones(input.numel(), dtype=torch.int64)
    else:
        ones = weights if weights.dtype == torch.float32 else weights.double()
    out = torch.zeros(size, dtype=ones.dtype if input.numel() else torch.int64)
    return out.scatter_add(0, input.long().reshape(-1), ones.reshape(-1)) if input.numel() else out
