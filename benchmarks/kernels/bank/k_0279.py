"""Lower triangle by a mask of places."""

import torch


def tril(input, diagonal=0):
    """Elements on and below a diagonal of the last two dimensions, zero elsewhere; every dtype."""
    if input.dim() < 2:
        raise RuntimeError("tril: at least 2 dimensions are expected")
    rows, columns = input.shape[-2:]
    kept = torch.arange(columns) <= torch.arange(rows).unsqueeze(-1) + diagonal
    return torch.where(kept, input, torch.zeros((), dtype=input.dtype))
