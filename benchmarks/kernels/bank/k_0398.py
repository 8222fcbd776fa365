"""Index of the first maximum, by comparison with it."""

import torch


def argmax(input, dim=None, keepdim=False):
    """Index of the largest element over `dim`, for float32 and float64; the first of equal ones."""
    rank = input.dim()
    if dim is None:
        rows, along = input.reshape(-1), 0
    else:
        rows, along = (input.reshape(1) if rank == 0 else input), dim
    top = torch.amax(rows, along, keepdim=True)
    size = rows.size(along)
    shape = [1] * rows.dim()
    shape[along] = size
    places = torch.arange(size).reshape(shape)
    found = torch.where(rows == top, places, size).amin(along, keepdim=keepdim and dim is not None and rank > 0)
    if dim is None and keepdim:
        return found.reshape([1] * rank)
    return found.reshape(()) if rank == 0 else found
