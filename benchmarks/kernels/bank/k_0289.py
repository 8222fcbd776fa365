"""Lower median by a full sort."""

import torch


def median(input, dim=None, keepdim=False):
    """Median of float32 and float64 elements, of all or along `dim`."""
    if dim is None:
        flat = input.reshape(-1)
        if not flat.numel():
            return flat.sum() * 0 + float("nan")
        return torch.sort(flat).values[(flat.numel() - 1) // 2]
    rows = input.reshape(1) if not input.dim() else input
    if not rows.size(dim):
        raise IndexError("median: expected reduction dim to have a size")
    ordered = torch.sort(rows, dim)
    middle = (rows.size(dim) - 1) // 2
    values, places = ordered.values.select(dim, middle), ordered.indices.select(dim, middle)
    if keepdim and input.dim():
        values, places = values.unsqueeze(dim), places.unsqueeze(dim)
    return torch.return_types.median((values.clone(), places.clone()))
