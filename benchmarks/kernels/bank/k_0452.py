"""Index of the first maximum, as the least index whose element equals it."""

import torch


def argmax(input, dim=None, keepdim=False):
    """Index of the largest element over `dim`; NaN is larger than all."""
    rank = input.dim()
    if dim is not None and not -max(rank, 1) <= dim < max(rank, 1):
        raise IndexError(f"dim={dim} is out of range for {rank} dimensions")
    rows = input.reshape(-1) if dim is None or not rank else input.movedim(dim, -1)
    size = rows.size(-1)
    if not size:
        raise IndexError("argmax needs an element")
    hit = (rows == rows.amax(-1, keepdim=True)) | (rows != rows)
    found = torch.where(hit, torch.arange(size), size).amin(-1)
    if dim is None:
        return found.reshape([1] * rank) if keepdim else found
    return found.unsqueeze(dim) if keepdim and rank else found
