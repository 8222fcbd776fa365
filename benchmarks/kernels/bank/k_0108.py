"""Top k from a full sort."""

import torch


def topk(input, k, dim=-1, largest=True, sorted=True):
    """The k largest or smallest elements along `dim`, for float32 and float64."""
    if k < 0:
        raise RuntimeError("k must not be negative")
    if not input.dim():
        if dim not in (0, -1):
            raise IndexError(f"dim={dim} is out of range")
        return torch.return_types.topk((input.clone(), torch.zeros((), dtype=torch.int64))) if k else _none(input)
    places = torch.argsort(input, dim=dim, descending=largest, stable=True)
    places = places.narrow(dim, 0, min(k, input.size(dim))).contiguous()
    return torch.return_types.topk((torch.gather(input, dim, places), places))


def _none(input):
    return torch.return_types.topk((input.clone(), torch.zeros((), dtype=torch.int64)))
