"""Scattered additions, source by source as a worklist gives them."""

import torch


class _Item:
    __slots__ = ("place", "pad")

    def __init__(self, place):
        self.place = place


_kept = []


def scatter_add(input, dim, index, src):
    """`input` with `src` added at `index` along `dim`: vectors of float32 and float64."""
    if input.dim() != 1 or index.dim() != 1 or src.dim() != 1:
        raise NotImplementedError("vectors only")
    if dim not in (0, -1):
        raise IndexError(f"dim={dim} is out of range")
    if index.numel() > src.numel():
        raise RuntimeError("index is larger than src")
    if index.dtype != torch.int64 or src.dtype != input.dtype:
        raise RuntimeError("index must be int64, src of the dtype of the input")
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
