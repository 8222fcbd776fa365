"""Buckets by counting the boundaries that lie above."""

import torch


def bucketize(input, boundaries, *, out_int32=False, right=False):
    """The bucket of each element, between boundaries that are sorted."""
    if boundaries.dim() != 1:
        raise RuntimeError("bucketize: boundaries must be a vector")
    if isinstance(input, torch.Tensor) and input.dtype != boundaries.dtype:
        raise RuntimeError("bucketize: input and boundaries need one dtype")
    values = torch.as_tensor(input, dtype=boundaries.dtype).unsqueeze(-1)
    above = boundaries > values if right else boundaries >= values
    found = boundaries.numel() - above.sum(-1)
    return found.int() if out_int32 else found
