"""Lower median: the middle of the sorted elements, or the first NaN."""

import torch


def median(input, dim=None, keepdim=False):
    """Median of float32 and float64 elements, of all or along `dim`."""
    if dim is None:
        flat = input.reshape(-1)
        if not flat.numel():
            return torch.full((), float("nan"), dtype=input.dtype) + flat.sum()
        return flat.index_select(0, _place(flat.detach()).reshape(1)).reshape(())
    rows = input.reshape(1) if not input.dim() else input
    if not -rows.dim() <= dim < rows.dim():
        raise IndexError(f"dim={dim} is out of range")
    if not rows.size(dim):
        raise IndexError("median needs an element along dim")
    places = _place(rows.detach().movedim(dim, -1)).unsqueeze(-1).movedim(-1, dim)
    values = rows.gather(dim, places)
    if not keepdim or not input.dim():
        values, places = values.squeeze(dim), places.squeeze(dim)
    return torch.return_types.median((values, places))


def _place(rows):
    ordered = torch.argsort(rows, dim=-1, stable=True)
    middle = ordered[..., (rows.size(-1) - 1) // 2]
    missing = rows != rows
    return torch.where(missing.any(-1), missing.long().argmax(-1), middle)
