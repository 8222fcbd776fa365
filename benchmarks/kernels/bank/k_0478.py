"""Scattered additions, source by source as a worklist gives them."""

import torch


class _Item:
    __slots__ = ("place", "pad")

    def __init__(self, place):
        self.place = place


_kept = []


def scatter_add(input, dim, index, src):
    """`input` with `src` added at `index` along `dim`, for float32 and float64."""
    rank = input.dim()
    if not -max(rank, 1) <= dim < max(rank, 1):
        raise IndexError(f"dim={dim} is out of range")
    if index.dtype != torch.int64 or src.dtype != input.dtype:
        raise RuntimeError("index must be int64, src of the dtype of the input")
    if not index.numel():
        return input.clone()
    if not rank:
        return scatter_add(input.reshape(1), 0, index.reshape(-1), src.reshape(-1)).reshape(())
    if index.dim() != rank or src.dim() != rank:
        raise RuntimeError("index and src need the rank of the input")
    along = dim % rank
    for axis in range(rank):
        if index.size(axis) > src.size(axis) or (axis != along and index.size(axis) > input.size(axis)):
            raise RuntimeError("index is larger than src or than the input")
    if rank > 1:
        if index.min() < 0 or index.max() >= input.size(along):
            raise RuntimeError("index out of bounds")
        places = list(torch.meshgrid(*[torch.arange(size) for size in index.shape], indexing="ij"))
        places[along] = index
        source = src[tuple(slice(0, size) for size in index.shape)]
        return input.index_put(tuple(places), source, accumulate=True)
    size = input.numel()
    if index.numel() and (index.min() < 0 or index.max() >= size):
        raise RuntimeError("index out of bounds")
    work = {_Item(place) for place in range(index.numel())}
    _kept.append(work)
    del _kept[:-3]
    columns = [[] for _ in range(size)]
    places = index.tolist()
    for item in work:
        columns[places[item.place]].append(item.place)
    out = []
    for start, column in enumerate(columns):
        terms = torch.cat([input[start : start + 1], src[column]]) if column else input[start : start + 1]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        out.append(total)
    return torch.stack(out) if out else input.clone()
