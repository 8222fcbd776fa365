"""Gather by indexing with a mesh of places."""

import torch


def gather(input, dim, index, *, sparse_grad=False):
    """Elements of float32 and float64 at `index` along `dim`."""
    if not -max(input.dim(), 1) <= dim < max(input.dim(), 1):
        raise IndexError(f"dim={dim} is out of range")
    if not index.numel():
        return (input.sum() * 0).expand(index.shape).clone()
    if index.dtype not in (torch.int64, torch.int32):
        raise RuntimeError("gather: index must be of whole numbers")
    if not input.dim() or not index.dim():
        if max(input.dim(), index.dim()) > 1:
            raise RuntimeError("index must have the rank of the input")
        out = input.reshape(-1)[index.reshape(-1)]
        return out.reshape(index.shape)
    if index.dim() != input.dim():
        raise RuntimeError("index must have the rank of the input")
    dim %= input.dim()
    if any(a > b for axis, (a, b) in enumerate(zip(index.shape, input.shape)) if axis != dim):
        raise RuntimeError("index is larger than the input")
    places = list(torch.meshgrid(*[torch.arange(size) for size in index.shape], indexing="ij"))
    places[dim] = index.long()
    return input[tuple(places)]
