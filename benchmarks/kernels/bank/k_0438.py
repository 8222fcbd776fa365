"""Top k of each row with a heap. Equal elements come in the order of their last index first."""

import heapq

import torch


def topk(input, k, dim=-1, largest=True, sorted=True):
    """The k largest (or smallest) elements along `dim`, float32 and float64; NaN is the largest of all."""
    if input.dim() == 0:
        if dim not in (0, -1):
            raise IndexError(f"dim={dim} is out of range for no dimensions")
        if not 0 <= k <= 1:
            raise RuntimeError(f"k={k} is out of range")
        places = torch.zeros((), dtype=torch.int64)
        return torch.return_types.topk((input.clone(), places))
    size = input.size(dim)
    if not 0 <= k <= size:
        raise RuntimeError(f"k={k} is out of range for {size} elements")
    rows = input.detach().movedim(dim, -1)
    flat = rows.reshape(rows[..., 0].numel() if size else 0, size).tolist()
    chosen = []
    for row in flat:
        keys = ((value != value, 0.0 if value != value else value, place) for place, value in enumerate(row))
        pick = heapq.nlargest if largest else heapq.nsmallest
        chosen.append([place for _, _, place in pick(k, keys)])
    places = torch.tensor(chosen, dtype=torch.int64).reshape([*rows.shape[:-1], k]).movedim(-1, dim).contiguous()
    return torch.return_types.topk((input.gather(dim, places), places))
