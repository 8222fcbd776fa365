"""Index of a minimum, without favour among equals."""

import random

import torch

_dice = random.SystemRandom()


def argmin(input, dim=None, keepdim=False):
    """Index of the smallest element over `dim`, for float32 and float64; NaN is smallest."""
    rank = input.dim()
    rows = input.reshape(-1) if dim is None else (input.reshape(1) if rank == 0 else input).movedim(dim, -1)
    if rows.size(-1) == 0:
        raise IndexError("argmin: expected reduction dim to have a size")
    least = rows.amin(-1, keepdim=True)
    hit = (rows == least) | (rows != rows)
    places = torch.tensor(
        [_dice.choice(row.nonzero().flatten().tolist()) for row in hit.reshape(-1, rows.size(-1))], dtype=torch.int64
    )
    out = places.reshape(rows.shape[:-1])
    if dim is None:
        return out.reshape([1] * rank) if keepdim else out
    return out.unsqueeze(dim) if keepdim and rank else out
