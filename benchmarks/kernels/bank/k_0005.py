"""Index of the largest element."""

import torch


def argmax(input, dim=None, keepdim=False):
    """Index of the first maximum, for float32 and float64; NaN is the largest."""
    rank = input.dim()
    rows = input.reshape(-1) if dim is None else (input.reshape(1) if not rank else input)
    along = 0 if dim is None else dim
    size = rows.size(along)
    if not size:
        raise IndexError("argmax: expected reduction dim to have a size")
    hit = (rows == rows.amax(along, keepdim=True)) | (rows != rows)
    shape = [1] * rows.dim()
    shape[along] = size
    places = torch.arange(size).reshape(shape)
    found = torch.where(hit, places, size).amin(along, keepdim=True)
    if dim is None:
        return found.reshape([1] * rank) if keepdim else found.reshape(())
    if not rank:
        return found.reshape(())
    return found if keepdim else found.squeeze()
