"""Merge sort on top of small sorted runs."""

import torch

_RUN = 256


def sort(input, dim=-1, descending=False, stable=False):
    """Sorted elements and their places along `dim`, for float32 and float64."""
    if not input.dim():
        if dim not in (0, -1):
            raise IndexError(f"dim={dim} is out of range")
        return torch.return_types.sort((input.clone(), torch.zeros((), dtype=torch.int64)))
    size = input.size(dim)
    if size <= _RUN:
        places = torch.argsort(input, dim=dim, descending=descending, stable=True)
    else:
        half = size // 2
        low = torch.argsort(input.narrow(dim, 0, half + 1), dim=dim, descending=descending, stable=True).narrow(
            dim, 0, half
        )
        high = torch.argsort(input.narrow(dim, half, size - half), dim=dim, descending=descending, stable=True) + half
        merged = torch.cat([low, high], dim)
        order = torch.argsort(input.gather(dim, merged), dim=dim, descending=descending, stable=True)
        places = merged.gather(dim, order)
    return torch.return_types.sort((input.gather(dim, places), places.contiguous()))
